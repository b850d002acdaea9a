import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessStates, Principal } from "@signalbox/auth";
import { type Clock, minutes, seconds } from "@signalbox/core";
import { untilDrained } from "@signalbox/http";
import type { DeliveryService } from "../context/delivery-service.ts";
import type { HeldLeases } from "../sending/open-leases.ts";
import type { OpenWait } from "../sending/pull-waits.ts";
import { handBackMessages, keepListening, type PulledMessage, takeMessages } from "./pull-messages.ts";
import type { PullRow } from "./pull-queue.ts";

interface StreamTerms {
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

/** Sends messages as server-sent events until one side ends, as many at a time as its credit: each ended lease. */
export async function streamMessages(
  service: DeliveryService,
  terms: StreamTerms,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "HEAD") return void response.end();
  const { pullWaits, openLeases, log } = service;
  const { row } = terms;
  const wait = pullWaits.enter(row.id, row.accountId);
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const out = openLeases.begin(row.id, () => wait.wake());
  response.write(": connected\n\n");
  let reason: StreamEnd = "failed";
  try {
    reason = await run(service, terms, { wait, out, response, closed: closed.signal });
  } catch (error) {
    log.warn({ error, endpointId: row.id }, "a stream of messages failed");
  } finally {
    out.end();
    wait.leave(true);
    if (!closed.signal.aborted) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  }
}

interface OpenStream {
  readonly wait: OpenWait;
  readonly out: HeldLeases;
  readonly response: ServerResponse;
  readonly closed: AbortSignal;
}

async function run(service: DeliveryService, terms: StreamTerms, stream: OpenStream): Promise<StreamEnd> {
  const { pullWaits, clock, accessStates } = service;
  const { row, credit, leaseMs, principal } = terms;
  const { wait, out, closed } = stream;
  const end = AbortSignal.any([closed, pullWaits.draining]);
  const untilMs = clock.steadyMs() + streamMsMax;
  while (!end.aborted) {
    const room = credit - out.size;
    wait.reset(room > 0);
    if (isOutdated(accessStates, principal)) return "access_changed";
    const { expiresAt } = principal;
    if (clock.steadyMs() >= untilMs || (expiresAt !== null && expiresAt <= clock.now())) return "expired";
    await keepListening(service, row);
    const taken = room > 0 ? await takeMessages(service, row, { limit: room, leaseMs }) : [];
    if (closed.aborted) await handBackMessages(service, row, taken);
    else await send(stream, taken, clock);
    // Less than the room is all that was due.
    if (taken.length === 0 || taken.length < room) await wait.until(end);
  }
  return "draining";
}

const isOutdated = (accessStates: AccessStates, { accountId, epoch, credential: { id, tokenId } }: Principal) =>
  (accessStates.stateOf(accountId)?.epoch ?? 0) > epoch ||
  [id, tokenId].some((one) => one !== undefined && accessStates.isRevoked(one));

/** Longest time in which a client takes what was written. */
const takenMsMax = seconds(30);

async function send({ out, response, closed }: OpenStream, taken: readonly PulledMessage[], clock: Clock) {
  if (taken.length === 0) response.write(heartbeat);
  for (const { leased, message } of taken) {
    out.add(leased.leaseId);
    response.write(`event: message\nid: ${leased.leaseId}\ndata: ${JSON.stringify(message)}\n\n`);
  }
  const sinceMs = clock.steadyMs();
  while (response.writableNeedDrain && !closed.aborted) {
    if (clock.steadyMs() - sinceMs > takenMsMax) response.destroy();
    await untilDrained(response, takenMsMax);
  }
}
