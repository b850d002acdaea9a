import type { Send } from "./call.ts";
import { type FollowOptions, followEvents, type Position } from "./event-stream.ts";
import { answerTo } from "./resources.ts";

export interface SubscribeOptions extends FollowOptions {
  readonly variables?: Readonly<Record<string, unknown>>;
}

interface GraphProblem {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly cursor?: string };
}

/** A message of a subscription. */
export interface SubscriptionMessage<Data> {
  readonly data: Data;
  /** The place after this message: kept, it is where a later program resumes. */
  readonly cursor: string | null;
  /** Parts that could not be read, and are null in the data. */
  readonly errors: readonly GraphProblem[];
}

/** A subscription that cannot go on, such as with `CURSOR_EXPIRED`: read the present state, and subscribe anew. */
export class SubscriptionError extends Error {
  readonly code: string;
  readonly cursor: string | null;

  constructor({ message, extensions }: GraphProblem, cursor: string | null) {
    super(message);
    this.name = "SubscriptionError";
    this.code = extensions?.code ?? "UNKNOWN";
    this.cursor = cursor;
  }
}

/** Codes of ends after which the same subscription is taken up again. */
const resumed = ["DRAINING", "SLOW_CONSUMER"];

export async function* subscribe<Data>(
  send: Send,
  query: string,
  { variables, ...options }: SubscribeOptions = {},
): AsyncGenerator<SubscriptionMessage<Data>, void, undefined> {
  const position: Position = { cursor: options.cursor ?? null };
  const body = { query, variables };
  const open = (cursor: string | null, signal: AbortSignal) =>
    openStream(send, "POST", "/graphql", cursor, { signal, body });
  let isResumed = false;
  for await (const { name, data } of followEvents(open, position, options)) {
    if (name === "complete") {
      if (!isResumed) return;
      isResumed = false;
    }
    if (name !== "next") continue;
    const result = JSON.parse(data) as { data?: Data | null; errors?: readonly GraphProblem[] };
    const [problem] = result.errors ?? [];
    if (result.data !== undefined && result.data !== null) {
      yield { data: result.data, cursor: position.cursor, errors: result.errors ?? [] };
    } else if (problem) {
      if (!resumed.includes(problem.extensions?.code ?? "")) throw new SubscriptionError(problem, position.cursor);
      position.cursor = problem.extensions?.cursor ?? position.cursor;
      isResumed = true;
    }
  }
}

/** A change of configuration, settings or flags. After `reset` read everything again. */
export interface ConfigChange {
  readonly type: "config" | "settings" | "flags" | "reset";
  readonly cursor: string | null;
  readonly data: {
    readonly revision?: string;
    readonly names?: readonly string[];
    readonly values?: Readonly<Record<string, unknown>>;
  };
}

export async function* configChanges(
  send: Send,
  options: FollowOptions = {},
): AsyncGenerator<ConfigChange, void, undefined> {
  const position: Position = { cursor: options.cursor ?? null };
  const open = (cursor: string | null, signal: AbortSignal) =>
    openStream(send, "GET", "/api/v1/config/stream", cursor, { signal });
  for await (const { name, data } of followEvents(open, position, options)) {
    const content = data === "" ? {} : JSON.parse(data);
    if (name === "end" && content.reason === "switched_off") return;
    if (isChange(name)) yield { type: name, cursor: position.cursor, data: content };
  }
}

const isChange = (name: string): name is ConfigChange["type"] =>
  ["config", "settings", "flags", "reset"].includes(name);

async function openStream(
  send: Send,
  method: string,
  path: string,
  cursor: string | null,
  call: { readonly signal: AbortSignal; readonly body?: unknown },
): Promise<Response> {
  const headers = { Accept: "text/event-stream", ...(cursor !== null && { "Last-Event-ID": cursor }) };
  return (await answerTo(send, method, path, { ...call, headers, isStream: true, isRepeatable: true })) as Response;
}
