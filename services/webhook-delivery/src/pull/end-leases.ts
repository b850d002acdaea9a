import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorDetail, type Refusal, timeOfPublicId } from "@signalbox/core";
import type { DeliveryService } from "../context/delivery-service.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { findDeliveries } from "../deliveries/delivery-store.ts";
import { finishedAttempt, judgeLease, type LeaseOutcome, type Verdict } from "./lease-verdict.ts";
import {
  extendLeases,
  type LeasedMessage,
  type LeaseRecord,
  leaseRecords,
  type PullRow,
  takeExpiredLeases,
  takeLeases,
} from "./pull-queue.ts";

export interface EndedLease {
  readonly leaseId: string;
  readonly decision: string | null;
  readonly nextAttemptAt: Date | null;
  readonly repeated: boolean;
}

interface Refused {
  readonly index: number;
  readonly record: LeaseRecord | null;
  readonly outcome: LeaseOutcome | "unknown";
}

/** Time that a request waits for another one that is ending the same lease. */
const inProgressMsMax = 2_000;
const inProgressStepMs = 50;

/** Ends every live lease of a request; names those that cannot be ended so. A repeated request has no effect. */
export async function endLeases(
  service: DeliveryService,
  rows: readonly PullRow[],
  leaseIds: readonly string[],
  verdict: Verdict & { kind: "ack" | "nack" },
) {
  const settled = await settleLeases(service, rows, leaseIds, verdict);
  const records = await settledRecords(service, rows, leaseIds);
  const refused = refusedOf(service, leaseIds, records, verdict.kind);
  if (refused.length > 0) return refusal(service, rows, leaseIds, refused);
  const leases = leaseIds.map((leaseId): EndedLease => {
    const { decision = null, nextAttemptAt = null } = records.get(leaseId) ?? {};
    return { leaseId, decision, nextAttemptAt, repeated: !settled.has(leaseId) };
  });
  return { outcome: "ended", leases } as const;
}

export async function postponeLeases(
  service: DeliveryService,
  rows: readonly PullRow[],
  leaseIds: readonly string[],
  leaseMs: number,
) {
  const extended = await extendLeases(service.pool, idsOf(rows), leaseIds, leaseMs);
  if (extended.length === leaseIds.length) return { outcome: "extended", leases: extended } as const;
  const live = new Set(extended.map(({ leaseId }) => leaseId));
  const gone = leaseIds.filter((id) => !live.has(id));
  const records = await settledRecords(service, rows, gone);
  const refused = refusedOf(service, leaseIds, records, "extend");
  const ofGone = refused.filter(({ index }) => !live.has(leaseIds[index] ?? ""));
  return refusal(service, rows, leaseIds, ofGone);
}

export async function settleLeases(
  service: DeliveryService,
  rows: readonly PullRow[],
  leaseIds: readonly string[],
  verdict: Verdict,
): Promise<ReadonlySet<string>> {
  const taken = await takeLeases(service.pool, idsOf(rows), leaseIds, holderOf(service));
  await recordAll(service, taken, verdict);
  return new Set(taken.map(({ leaseId }) => leaseId));
}

/** Records expired leases as failed attempts; returns "again" while there may be more. */
export async function expireLeases(service: DeliveryService): Promise<"again" | "done"> {
  if (service.leases.instance === null) return "done";
  const taken = await takeExpiredLeases(service.pool, holderOf(service));
  await recordAll(service, taken, { kind: "expired" });
  return taken.length === 0 ? "done" : "again";
}

/** While this instance has no name it names none: a take-over is left to the end of the lease. */
const holderOf = ({ leases: { instance, leaseMs } }: DeliveryService) => ({ instance: instance ?? 0, leaseMs });

async function recordAll(service: DeliveryService, taken: readonly LeasedMessage[], verdict: Verdict): Promise<void> {
  const { clock, log, endpointCache, results, openLeases } = service;
  const recorded = taken.map(async (leased) => {
    const endpoint = await endpointCache.find(leased.accountId, leased.endpointId, leased.revision);
    // Its rows are about to be removed.
    if (endpoint === null) return;
    const startedAt = new Date(timeOfPublicId(leased.leaseId) ?? clock.nowMs());
    await results.add({ delivery: leased, endpoint, ...finishedAttempt(leased, startedAt, clock.now(), verdict) });
  });
  await Promise.all(recorded);
  openLeases.ended(taken.map(({ leaseId }) => leaseId));
  if (verdict.kind === "expired" && taken.length > 0) log.info({ deliveries: taken.length }, "leases expired");
}

const idsOf = (rows: readonly PullRow[]): string[] => rows.map(({ id }) => id);

/** Returns the records, once no lease among them is just being ended by another request. */
async function settledRecords({ pool, clock }: DeliveryService, rows: readonly PullRow[], ids: readonly string[]) {
  for (let waitedMs = 0; ; waitedMs += inProgressStepMs) {
    const records = new Map((await leaseRecords(pool, idsOf(rows), ids)).map((record) => [record.leaseId, record]));
    const isOpen = [...records.values()].some((record) => judgeLease(record, "ack", clock.nowMs()) === "in-progress");
    if (!isOpen || waitedMs >= inProgressMsMax) return records;
    await sleep(inProgressStepMs);
  }
}

function outcomeOf({ clock }: DeliveryService, record: LeaseRecord | null, wanted: "ack" | "nack" | "extend") {
  if (record === null) return "unknown" as const;
  if (wanted !== "extend") return judgeLease(record, wanted, clock.nowMs());
  // An acknowledged lease cannot be extended, whatever ended it.
  const outcome = judgeLease(record, "nack", clock.nowMs());
  return outcome === "done" ? "given-back" : outcome;
}

const refusedOf = (
  service: DeliveryService,
  leaseIds: readonly string[],
  records: ReadonlyMap<string, LeaseRecord>,
  wanted: "ack" | "nack" | "extend",
): Refused[] =>
  leaseIds.flatMap((id, index) => {
    const record = records.get(id) ?? null;
    const outcome = outcomeOf(service, record, wanted);
    return outcome === "done" ? [] : [{ index, record, outcome }];
  });

async function refusal(
  service: DeliveryService,
  rows: readonly PullRow[],
  leaseIds: readonly string[],
  refused: readonly Refused[],
): Promise<{ readonly outcome: "refused"; readonly refusal: Refusal }> {
  const accountId = rows[0]?.accountId ?? "";
  const deliveryIds = refused.flatMap(({ record }) => record?.deliveryId ?? []);
  const found = await findDeliveries(service, { accountId }, deliveryIds);
  const deliveries = new Map(found.map((delivery) => [delivery.id, delivery]));
  const details = refused.map(({ index, record, outcome }): ErrorDetail => {
    const delivery = deliveries.get(record?.deliveryId ?? "") ?? null;
    return { field: `lease_ids[${index}]`, ...wordsOf(outcome, delivery) };
  });
  const done = leaseIds.length - refused.length;
  const rest = done === 0 ? "" : ` The other ${done} ended as requested.`;
  if (refused.some(({ outcome }) => outcome === "in-progress")) {
    const message = "Another request is ending one of these leases. Send the request again.";
    return { outcome: "refused", refusal: { code: "unavailable", message, details, retryAfterSeconds: 1 } };
  }
  const some = refused.length === 1 ? "A lease" : `${refused.length} leases`;
  const refusal: Refusal = refused.every(({ outcome }) => outcome === "unknown")
    ? { code: "not_found", message: `${some} cannot be found at this endpoint.${rest}`, details }
    : { code: "conflict", message: `${some} ended before.${rest}`, details };
  return { outcome: "refused", refusal };
}

function wordsOf(outcome: Refused["outcome"], delivery: Delivery | null): Omit<ErrorDetail, "field"> {
  const since = sinceOf(delivery);
  const ended = (message: string) => ({ code: "transition_not_allowed", message }) as const;
  const expired = { code: "expired", message: `The lease has expired; ${since}.` } as const;
  const words = {
    unknown: { code: "invalid", message: "This endpoint has no such lease." },
    acknowledged: ended("The message was acknowledged under this lease."),
    "given-back": ended(`The message was returned; ${since}.`),
    "in-progress": ended("Another request is ending this lease."),
    expired,
    done: expired,
  } as const;
  return words[outcome];
}

function sinceOf(delivery: Delivery | null): string {
  if (delivery === null) return "the message will be delivered to a consumer again";
  const { status, attempts, nextAttemptAt } = delivery;
  const due = `attempt ${attempts + 1} is due ${nextAttemptAt === null ? "now" : `at ${nextAttemptAt.toISOString()}`}`;
  const words: Readonly<Record<Delivery["status"], string>> = {
    succeeded: `attempt ${attempts} was acknowledged`,
    exhausted: `attempt ${attempts} was the last, and the delivery is exhausted`,
    parked: "the delivery is parked",
    cancelled: "the delivery was cancelled",
    held: due,
    pending: due,
  };
  return words[status];
}
