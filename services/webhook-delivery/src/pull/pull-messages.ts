import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, newId, seconds, timeOfPublicId } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import { requireScopeOf } from "../endpoints/endpoint.ts";
import type { EndpointCache, SigningEndpoint } from "../endpoints/endpoint-cache.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { heldMaxDefault } from "../endpoints/endpoint-settings.ts";
import { messageOf } from "../sending/attempt-delivery.ts";
import type { AttemptResults } from "../sending/attempt-results.ts";
import type { DeliveryAccess } from "../sending/claim-loop.ts";
import type { EndpointRates } from "../sending/endpoint-rates.ts";
import type { Leases } from "../sending/leases.ts";
import type { OpenLeases } from "../sending/open-leases.ts";
import type { PullWaits } from "../sending/pull-waits.ts";
import { finishedAttempt, type Verdict } from "./lease-verdict.ts";
import type { PulledMessage } from "./pull-message.ts";
import type { LeasedMessage, PullQueue, PullRow } from "./pull-queue.ts";

/** The parts that pulled messages share with pushed ones. */
export interface PullEngine {
  readonly directory: EndpointCache;
  readonly endpointRates: EndpointRates;
  readonly leases: Pick<Leases, "instance" | "leaseMs">;
  readonly results: Pick<AttemptResults, "add">;
  readonly access: DeliveryAccess;
}

interface PullDependencies {
  readonly pullQueue: PullQueue;
  readonly pullWaits: PullWaits;
  readonly openLeases: Pick<OpenLeases, "ended">;
  readonly engine: PullEngine;
  readonly clock: Clock;
  readonly log: Logger;
  /** `http.base-url` */
  readonly baseUrl: string;
}

interface PollTerms {
  readonly limit: number;
  readonly waitMs: number;
  readonly leaseMs: number;
}

export type PullMessages = ReturnType<typeof createPullMessages>;

/** Creates the operations of consumers: they lease messages, and say what became of them. */
export function createPullMessages(parts: PullDependencies) {
  const { pullQueue } = parts;
  const { leases } = parts.engine;
  return {
    /** Returns the rows of a pull endpoint of the caller's, or the reason why there are none. */
    rowsOf: (caller: Caller, endpointId: string) => rowsOf(parts, caller, endpointId),

    /** Takes what is due now, without a wait. */
    take: (row: PullRow, terms: Omit<PollTerms, "waitMs">) => take(parts, row, terms),

    /** Leases due messages; without one it waits until there is one, the time is over or the process leaves. */
    poll: (row: PullRow, terms: PollTerms, signal: AbortSignal) => poll(parts, row, terms, signal),

    /** Keeps an endpoint for listening, whose messages are being taken. */
    keep: (row: PullRow) => keep(parts, row),

    /** Returns messages that were not sent to their places in the queue. */
    handBack: (row: PullRow, some: readonly PulledMessage[]) => handBack(parts, row, some),

    /** Records what became of leased messages; returns those that were live. */
    async settle(
      rows: readonly PullRow[],
      leaseIds: readonly string[],
      verdict: Verdict,
    ): Promise<ReadonlySet<string>> {
      const ids = rows.map(({ id }) => id);
      const taken = await pullQueue.take(ids, leaseIds, holderOf(leases));
      await recordAll(parts, taken, verdict);
      return new Set(taken.map(({ leaseId }) => leaseId));
    },

    extend: (rows: readonly PullRow[], leaseIds: readonly string[], leaseMs: number) =>
      pullQueue.extend(
        rows.map(({ id }) => id),
        leaseIds,
        leaseMs,
      ),

    records: (rows: readonly PullRow[], leaseIds: readonly string[]) =>
      pullQueue.records(
        rows.map(({ id }) => id),
        leaseIds,
      ),

    /** Records expired leases as failed attempts; returns "again" while there may be more. */
    async expireStep(): Promise<"again" | "done"> {
      if (leases.instance === null) return "done";
      const taken = await pullQueue.takeExpired(holderOf(leases));
      await recordAll(parts, taken, { kind: "expired" });
      return taken.length === 0 ? "done" : "again";
    },
  };
}

/** While this instance has no name it names none: a take-over is left to the end of the lease. */
const holderOf = ({ instance, leaseMs }: PullEngine["leases"]) => ({ instance: instance ?? 0, leaseMs });

async function rowsOf({ pullQueue }: PullDependencies, caller: Caller, endpointId: string) {
  const rows = await pullQueue.rowsOf(caller.accountId, endpointId);
  const endpoint = rows.find(({ id }) => id === endpointId);
  // The row of a consumer is no endpoint.
  if (endpoint === undefined || splitId(endpointId).consumer !== null) return { outcome: "missing" } as const;
  requireScopeOf(endpoint, caller);
  return endpoint.type === "push" ? ({ outcome: "push" } as const) : ({ outcome: "found", rows } as const);
}

async function poll(
  parts: PullDependencies,
  row: PullRow,
  { waitMs, ...terms }: PollTerms,
  signal: AbortSignal,
): Promise<PulledMessage[]> {
  const { pullWaits } = parts;
  await keep(parts, row);
  const wait = pullWaits.enter(row.id, row.accountId);
  const end = AbortSignal.any([signal, AbortSignal.timeout(waitMs), pullWaits.draining]);
  let taken: PulledMessage[] = [];
  try {
    for (;;) {
      wait.reset();
      // Nobody would get the leases of a client that is gone.
      if (signal.aborted) break;
      taken = await take(parts, row, terms);
      if (taken.length > 0 || end.aborted || waitMs === 0) break;
      await wait.until(end);
      if (end.aborted) break;
    }
  } finally {
    // A full answer, and a wake-up that came too late, leave messages for another wait.
    wait.leave(taken.length === 0 || taken.length >= terms.limit);
  }
  await keep(parts, row);
  if (!signal.aborted) return taken;
  await handBack(parts, row, taken);
  return [];
}

/** Time for which an endpoint for listening outlives the last look at its messages. */
export const listeningGraceMs = seconds(60);

async function keep({ pullQueue }: PullDependencies, { id, isListening }: PullRow): Promise<void> {
  if (isListening) await pullQueue.keep(id, listeningGraceMs);
}

async function take(
  parts: PullDependencies,
  { id, accountId, revision }: PullRow,
  { limit, leaseMs }: Omit<PollTerms, "waitMs">,
): Promise<PulledMessage[]> {
  const { pullQueue, engine, clock, baseUrl } = parts;
  const { directory, access, endpointRates, leases } = engine;
  if (!access.isReady() || !access.mayWrite(accountId)) return [];
  const endpoint = await directory.find(accountId, id, revision);
  if (endpoint === null) return [];
  const { max_in_flight: ownMax, rate } = endpoint.settings;
  const granted = rate === null ? limit : await grantedOf(endpointRates, id, limit, rate);
  if (granted === 0) return [];
  const leaseIds = Array.from({ length: granted }, () => newId("wha", clock.nowMs()));
  const leased = await pullQueue.lease(id, leaseIds, ownMax ?? heldMaxDefault, leaseMs);
  if (rate !== null && leased.length < granted) {
    await endpointRates.giveBack(id, rate, granted - leased.length);
  }
  const [first] = leased;
  const current = first === undefined ? null : await directory.find(accountId, id, first.revision);
  if (current === null) return [];
  const messages = leased.map((one) => ({
    leased: one,
    message: messageOf(one, current, { at: clock.now(), baseUrl }),
  }));
  const unsent = messages.filter(({ message }) => typeof message === "string");
  for (const { leased: one, message } of unsent) {
    await recordAll(parts, await pullQueue.take([id], [one.leaseId], holderOf(leases)), {
      kind: "unsent",
      error: String(message),
    });
  }
  return messages.filter((one): one is PulledMessage => typeof one.message !== "string");
}

async function grantedOf(
  endpointRates: EndpointRates,
  id: string,
  limit: number,
  rate: NonNullable<SigningEndpoint["settings"]["rate"]>,
): Promise<number> {
  const rooms = new Map([[id, limit]]);
  await endpointRates.grant(rooms, new Map([[id, rate]]));
  return rooms.get(id) ?? 0;
}

async function handBack({ pullQueue, pullWaits }: PullDependencies, { id }: PullRow, some: readonly PulledMessage[]) {
  if (some.length === 0) return;
  await pullQueue.handBack(
    id,
    some.map(({ leased }) => leased),
  );
  pullWaits.wake(id);
}

/** Records the attempts of leases whose rows this instance has taken over. */
async function recordAll(parts: PullDependencies, taken: readonly LeasedMessage[], verdict: Verdict): Promise<void> {
  const { clock, log } = parts;
  const { directory, results } = parts.engine;
  const recorded = taken.map(async (leased) => {
    const endpoint = await directory.find(leased.accountId, leased.endpointId, leased.revision);
    // Its rows are about to be removed.
    if (endpoint === null) return;
    const startedAt = new Date(timeOfPublicId(leased.leaseId) ?? clock.nowMs());
    await results.add({ delivery: leased, endpoint, ...finishedAttempt(leased, startedAt, clock.now(), verdict) });
  });
  await Promise.all(recorded);
  parts.openLeases.ended(taken.map(({ leaseId }) => leaseId));
  if (verdict.kind === "expired" && taken.length > 0) log.info({ deliveries: taken.length }, "leases expired");
}

/** @throws AppError `rate_limited` or `unavailable` when the account or the process has too many waits */
export function requireWait({ pullWaits }: Pick<PullDependencies, "pullWaits">, { accountId }: Caller): void {
  const retryAfterSeconds = seconds(5) / 1_000;
  switch (pullWaits.refusal(accountId)) {
    case "too-many-of-account": {
      const message = "The account has too many waiting polls and streams; send fewer at a time.";
      throw new AppError("rate_limited", message, { retryAfterSeconds });
    }
    case "too-many":
      throw new AppError("unavailable", "Too many polls are waiting. Try again later.", { retryAfterSeconds });
    case null:
  }
}
