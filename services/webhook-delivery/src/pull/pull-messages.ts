import { isUtf8 } from "node:buffer";
import type { Caller } from "@signalbox/auth";
import { AppError, newId, seconds } from "@signalbox/core";
import type { Pool } from "@signalbox/storage";
import type { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { mayWrite } from "../endpoints/account-access.ts";
import { requireScopeOf } from "../endpoints/endpoint.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { heldMaxDefault } from "../endpoints/endpoint-settings.ts";
import { type Message, messageOf } from "../sending/attempt-delivery.ts";
import { giveBackGrants, grantAttempts, type Rate } from "../sending/endpoint-rates.ts";
import { settleLeases } from "./end-leases.ts";
import type { MessageResource } from "./pull-message.ts";
import {
  giveBackLeases,
  type LeasedMessage,
  leaseMessages,
  listPullRows,
  type PullRow,
  postponeEnd,
} from "./pull-queue.ts";

export interface PulledMessage {
  readonly leased: LeasedMessage;
  readonly message: z.output<typeof MessageResource>;
}

interface PollTerms {
  readonly limit: number;
  readonly waitMs: number;
  readonly leaseMs: number;
}

/** Returns the rows of a pull endpoint of the caller's, or the reason why there are none. */
export async function findPullRows({ pool }: DeliveryService, caller: Caller, endpointId: string) {
  const rows = await listPullRows(pool, caller.accountId, endpointId);
  const endpoint = rows.find(({ id }) => id === endpointId);
  // The row of a consumer is no endpoint.
  if (endpoint === undefined || splitId(endpointId).consumer !== null) return { outcome: "missing" } as const;
  requireScopeOf(endpoint, caller);
  return endpoint.type === "push" ? ({ outcome: "push" } as const) : ({ outcome: "found", rows } as const);
}

/** Leases due messages; without one it waits until there is one, the time is over or the process leaves. */
export async function pollMessages(
  service: DeliveryService,
  row: PullRow,
  { waitMs, ...terms }: PollTerms,
  signal: AbortSignal,
): Promise<PulledMessage[]> {
  const { pullWaits } = service;
  await keepListening(service, row);
  const wait = pullWaits.enter(row.id, row.accountId);
  const end = AbortSignal.any([signal, AbortSignal.timeout(waitMs), pullWaits.draining]);
  let taken: PulledMessage[] = [];
  try {
    for (;;) {
      wait.reset();
      // Nobody would get the leases of a client that is gone.
      if (signal.aborted) break;
      taken = await takeMessages(service, row, terms);
      if (taken.length > 0 || end.aborted || waitMs === 0) break;
      await wait.until(end);
      if (end.aborted) break;
    }
  } finally {
    // A full answer, and a wake-up that came too late, leave messages for another wait.
    wait.leave(taken.length === 0 || taken.length >= terms.limit);
  }
  await keepListening(service, row);
  if (!signal.aborted) return taken;
  await handBackMessages(service, row, taken);
  return [];
}

/** Time for which an endpoint for listening outlives the last look at its messages. */
export const listeningGraceMs = seconds(60);

export async function keepListening({ pool }: DeliveryService, { id, isListening }: PullRow): Promise<void> {
  if (isListening) await postponeEnd(pool, id, listeningGraceMs);
}

export async function takeMessages(
  service: DeliveryService,
  row: PullRow,
  { limit, leaseMs }: Omit<PollTerms, "waitMs">,
): Promise<PulledMessage[]> {
  const { pool, endpointCache, accessStates, clock, sender } = service;
  const { id, accountId, revision } = row;
  if (!accessStates.isCaughtUp() || !mayWrite(accessStates, accountId)) return [];
  const endpoint = await endpointCache.find(accountId, id, revision);
  if (endpoint === null) return [];
  const { max_in_flight: ownMax, rate } = endpoint.settings;
  const granted = rate === null ? limit : await grantedOf(pool, id, limit, rate);
  if (granted === 0) return [];
  const leaseIds = Array.from({ length: granted }, () => newId("wha", clock.nowMs()));
  const leased = await leaseMessages(pool, id, leaseIds, ownMax ?? heldMaxDefault, leaseMs);
  if (rate !== null && leased.length < granted) await giveBackGrants(pool, id, rate, granted - leased.length);
  const [first] = leased;
  const current = first === undefined ? null : await endpointCache.find(accountId, id, first.revision);
  if (current === null) return [];
  const pulled: PulledMessage[] = [];
  for (const one of leased) {
    const message = messageOf(one, current, { at: clock.now(), baseUrl: sender.baseUrl });
    if (typeof message !== "string") pulled.push({ leased: one, message: viewMessage(one, message) });
    else await settleLeases(service, [row], [one.leaseId], { kind: "unsent", error: message });
  }
  return pulled;
}

function viewMessage(leased: LeasedMessage, { headers, body }: Message): PulledMessage["message"] {
  const isText = isUtf8(body);
  return {
    lease_id: leased.leaseId,
    delivery_id: leased.id,
    event_id: leased.eventId,
    type: leased.eventType,
    attempt: leased.attempts + 1,
    lease_ends_at: leased.leasedUntil.toISOString(),
    headers,
    body: body.toString(isText ? "utf8" : "base64"),
    body_encoding: isText ? "utf8" : "base64",
  };
}

async function grantedOf(pool: Pool, id: string, limit: number, rate: Rate): Promise<number> {
  const rooms = new Map([[id, limit]]);
  await grantAttempts(pool, rooms, new Map([[id, rate]]));
  return rooms.get(id) ?? 0;
}

/** Returns messages that were not sent to their places in the queue. */
export async function handBackMessages(service: DeliveryService, { id }: PullRow, some: readonly PulledMessage[]) {
  const { pool, pullWaits } = service;
  if (some.length === 0) return;
  const leases = some.map(({ leased }) => leased);
  await giveBackLeases(pool, id, leases);
  pullWaits.wake(id);
}

/** @throws AppError `rate_limited` or `unavailable` when the account or the process has too many waits */
export function requireWait({ pullWaits }: DeliveryService, { accountId }: Caller): void {
  const retryAfterSeconds = seconds(5) / 1_000;
  const refusal = pullWaits.refusal(accountId);
  const own = "The account has too many waiting polls and streams; send fewer at a time.";
  if (refusal === "too-many-of-account") throw new AppError("rate_limited", own, { retryAfterSeconds });
  if (refusal === "too-many")
    throw new AppError("unavailable", "Too many polls are waiting. Try again later.", { retryAfterSeconds });
}
