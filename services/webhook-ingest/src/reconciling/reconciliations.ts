import type { Caller } from "@signalbox/auth";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { Source } from "../sources/source.ts";
import { earliest, newRun } from "./reconcile-step.ts";
import { findCoveredTo, openRequestedRun } from "./reconciliation-store.ts";

/** A comparison on request. */
interface Requested {
  /** Beginning; null for the end of the last one. */
  readonly from: Date | null;
  /** Counts what is missing and recovers nothing. */
  readonly dryRun: boolean;
}

/** Starts a comparison with the sender's list now, unless one is under way. */
export async function requestReconciliation(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  source: Source,
  { from, dryRun }: Requested,
) {
  const covered = await findCoveredTo(tx, source.id);
  if (source.senderKey === null || covered === null) return { outcome: "no-key" } as const;
  if (source.status !== "active") return { outcome: "paused" } as const;
  const now = service.clock.now();
  const fromAt = earliest(service, source, source.senderKey.sender, from ?? covered);
  const run = { ...newRun(source, "request", { fromAt, toAt: now, now }), dryRun };
  if (!(await openRequestedRun(tx, run))) return { outcome: "under-way" } as const;
  await service.outbox.append(tx, [audited(caller, { action: "webhook_source.reconcile", subject: source.id })]);
  return { outcome: "started", reconciliation: run } as const;
}
