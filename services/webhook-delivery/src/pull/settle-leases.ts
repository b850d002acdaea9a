import { timeOfPublicId } from "@signalbox/core";
import type { DeliveryService } from "../context/delivery-service.ts";
import { finishedAttempt, type Verdict } from "./lease-verdict.ts";
import { type LeasedMessage, type PullRow, takeExpiredLeases, takeLeases } from "./pull-queue.ts";

/** Records what became of leased messages; returns those that were live. */
export async function settleLeases(
  service: DeliveryService,
  rows: readonly PullRow[],
  leaseIds: readonly string[],
  verdict: Verdict,
): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ id }) => id);
  const taken = await takeLeases(service.pool, ids, leaseIds, holderOf(service));
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

/** Records the attempts of leases whose rows this instance has taken over. */
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
