import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, dataOf } from "../../answers.ts";
import type { Connection } from "../context.ts";
import { NoAnswer, reasonOf } from "../exchange.ts";
import { exitCodeOf, exitCodes, withTexts } from "../failures.ts";
import { readEvents } from "./server-events.ts";

/** A leased message: the body and the headers that a push would carry. */
export interface Message {
  readonly lease_id: string;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly body_encoding: "utf8" | "base64";
}

/** The endpoint of one listener, while it exists. */
interface ListeningEndpoint {
  readonly id: string;
  readonly secret: string;
}

export interface ListenTerms {
  readonly eventTypes: readonly string[];
  /** Messages that may be out at the same time. */
  readonly credit: number;
  readonly signal: AbortSignal;
  /** Called for the first endpoint, and when another one had to replace it: messages between the two are missed. */
  readonly onEndpoint: (endpoint: ListeningEndpoint, replaces: boolean) => void;
  /** Called when the connection is lost, and when it is there again. */
  readonly onConnection: (state: "connected" | "lost", reason: string) => void;
  readonly onMessage: (message: Message, endpointId: string) => void;
}

export const leaseSeconds = 30;
const firstPauseMs = 100;
const longestPauseMs = 3_000;

/**
 * Takes the messages of a temporary endpoint until it is stopped, over any number of connections. A connection that ends is
 * opened again; messages wait for it at the endpoint, which lives for a minute without a listener.
 */
export async function takeMessages(connection: Connection, terms: ListenTerms): Promise<void> {
  const { signal, onConnection, onEndpoint } = terms;
  const first = await createEndpoint(connection, terms).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (first === null) return;
  let endpoint = first;
  onEndpoint(endpoint, false);
  for (let pauseMs = firstPauseMs; !signal.aborted; ) {
    const outcome = await readStream(connection, endpoint.id, terms);
    if (signal.aborted) return;
    if (outcome.kind === "gone") {
      const replaced = await createAgain(connection, terms);
      if (replaced === null) return;
      endpoint = replaced;
      onEndpoint(endpoint, true);
    } else {
      if (outcome.kind === "lost") onConnection("lost", outcome.reason);
      pauseMs = outcome.wasConnected ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
      await sleep(outcome.kind === "ended" ? 0 : pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

async function createEndpoint({ client }: Connection, { eventTypes, signal }: ListenTerms): Promise<ListeningEndpoint> {
  const { id, secret } = await dataOf(
    client.POST("/api/v1/webhooks/endpoints/listen", { body: { event_types: [...eventTypes] }, signal }),
  );
  return withTexts({ id, secret }, "id", "secret");
}

/** Creates the endpoint once the service answers again; null when the listener was stopped meanwhile. */
async function createAgain(connection: Connection, terms: ListenTerms) {
  for (;;) {
    try {
      return await createEndpoint(connection, terms);
    } catch (error) {
      if (terms.signal.aborted) return null;
      if (!isTransient(error)) throw error;
      await sleep(longestPauseMs, undefined, { signal: terms.signal }).catch(() => {});
      if (terms.signal.aborted) return null;
    }
  }
}

/** Returns true when the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return exitCodeOf(error.status) === exitCodes.unavailable || error.status >= 500;
  if (!(error instanceof Error)) return false;
  // How `fetch` and its bodies fail when the connection does.
  return (
    error instanceof NoAnswer ||
    (error instanceof TypeError && error.cause !== undefined) ||
    ["TimeoutError", "AbortError"].includes(error.name)
  );
}

interface StreamOutcome {
  /** `ended` by the service, which asks for another stream; `gone` is the endpoint. */
  readonly kind: "ended" | "lost" | "gone";
  readonly reason: string;
  readonly wasConnected: boolean;
}

/** Reads one stream to its end. The service writes every 15 s, so a silent one is dead. @throws ApiError for a refusal that stays one */
async function readStream(connection: Connection, id: string, terms: ListenTerms): Promise<StreamOutcome> {
  const { credit, signal, onConnection, onMessage } = terms;
  let wasConnected = false;
  try {
    const query = new URLSearchParams({ credit: String(credit), lease_seconds: String(leaseSeconds) });
    const response = await connection.send(`/api/v1/webhooks/endpoints/${id}/messages?${query}`, {
      headers: { accept: "text/event-stream" },
      signal,
    });
    const refused = await refusalOf(response);
    if (refused?.status === 404) return { kind: "gone", reason: refused.message, wasConnected };
    if (refused) throw refused;
    for await (const { event, data } of readEvents(response.body as AsyncIterable<Uint8Array>)) {
      if (!wasConnected) onConnection("connected", id);
      wasConnected = true;
      if (event === "end") return { kind: "ended", reason: "", wasConnected };
      if (event === "message" && data !== "") onMessage(JSON.parse(data), id);
    }
    return { kind: "lost", reason: "the connection was closed", wasConnected };
  } catch (error) {
    if (!isTransient(error)) throw error;
    return { kind: "lost", reason: reasonOf(error), wasConnected };
  }
}

async function refusalOf(response: Response): Promise<ApiError | null> {
  if (response.ok && response.body !== null) return null;
  const text = await response.text();
  try {
    return new ApiError(response, JSON.parse(text));
  } catch {
    return new ApiError(response, null);
  }
}
