import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "@signalbox/auth";
import { type Clock, minutes, seconds } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import type { OpenLeases } from "../sending/open-leases.ts";
import type { OpenWait, PullWaits } from "../sending/pull-waits.ts";
import { type PulledMessage, viewMessage } from "./pull-message.ts";
import type { PullMessages } from "./pull-messages.ts";
import type { PullRow } from "./pull-queue.ts";

export interface StreamDependencies {
  readonly pullMessages: Pick<PullMessages, "take" | "handBack" | "keep">;
  readonly pullWaits: PullWaits;
  readonly openLeases: OpenLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns true when the access of a principal has changed since it was resolved. */
  readonly isOutdated: (principal: Principal) => boolean;
}

/** The terms of a stream. */
export interface StreamTerms {
  readonly row: PullRow;
  /** Messages that it may have out without an end of their leases. */
  readonly credit: number;
  readonly leaseMs: number;
  readonly principal: Principal;
}

type StreamEnd = "draining" | "expired" | "access_changed" | "failed";

/** A stream ends after this time; its client opens another one. */
const streamMsMax = minutes(10);
const heartbeat = ":\n\n";

export type MessageStreams = ReturnType<typeof createMessageStreams>;

/**
 * Creates the streams of messages, as server-sent events. A stream has as many messages out as its credit says, so that
 * a slow client costs no more memory than that; each end of a lease gives credit back.
 */
export function createMessageStreams(parts: StreamDependencies) {
  return {
    /** Sends messages to a request with a written head, until one side ends. */
    async open(terms: StreamTerms, request: IncomingMessage, response: ServerResponse): Promise<void> {
      if (request.method === "HEAD") return void response.end();
      const { pullWaits, openLeases, log } = parts;
      const { row } = terms;
      const wait = pullWaits.enter(row.id, row.accountId);
      const closed = new AbortController();
      response.once("close", () => closed.abort());
      const out = openLeases.begin(row.id, () => wait.wake());
      response.write(": connected\n\n");
      let reason: StreamEnd = "failed";
      try {
        reason = await run(parts, terms, { wait, out, response, closed: closed.signal });
      } catch (error) {
        log.warn({ error, endpointId: row.id }, "a stream of messages failed");
      } finally {
        out.end();
        wait.leave(true);
        if (!closed.signal.aborted) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
      }
    },
  };
}

interface OpenStream {
  readonly wait: OpenWait;
  readonly out: ReturnType<OpenLeases["begin"]>;
  readonly response: ServerResponse;
  readonly closed: AbortSignal;
}

/** Sends what is due as long as there is credit; returns the reason of the end. */
async function run(parts: StreamDependencies, terms: StreamTerms, stream: OpenStream): Promise<StreamEnd> {
  const { pullMessages, pullWaits, clock, isOutdated } = parts;
  const { row, credit, leaseMs, principal } = terms;
  const { wait, out, closed } = stream;
  const end = AbortSignal.any([closed, pullWaits.draining]);
  const untilMs = clock.steadyMs() + streamMsMax;
  while (!end.aborted) {
    const room = credit - out.size;
    wait.reset(room > 0);
    if (isOutdated(principal)) return "access_changed";
    const { expiresAt } = principal;
    if (clock.steadyMs() >= untilMs || (expiresAt !== null && expiresAt <= clock.now())) return "expired";
    await pullMessages.keep(row);
    const taken = room > 0 ? await pullMessages.take(row, { limit: room, leaseMs }) : [];
    if (closed.aborted) await pullMessages.handBack(row, taken);
    else await send(stream, taken, clock);
    // Less than the room is all that was due.
    if (taken.length === 0 || taken.length < room) await wait.until(end);
  }
  return "draining";
}

/** Longest time in which a client takes what was written. */
const takenMsMax = seconds(30);

async function send(
  { out, response, closed }: OpenStream,
  taken: readonly PulledMessage[],
  clock: Clock,
): Promise<void> {
  if (taken.length === 0) response.write(heartbeat);
  for (const one of taken) {
    const { leaseId } = one.leased;
    out.add(leaseId);
    response.write(`event: message\nid: ${leaseId}\ndata: ${JSON.stringify(viewMessage(one))}\n\n`);
  }
  const sinceMs = clock.steadyMs();
  while (response.writableNeedDrain && !closed.aborted) {
    if (clock.steadyMs() - sinceMs > takenMsMax) response.destroy();
    await drained(response);
  }
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off("drain", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(done, takenMsMax);
    response.on("drain", done).on("close", done);
  });
