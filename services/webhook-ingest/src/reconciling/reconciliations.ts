import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { SenderName } from "../sources/sender-key.ts";
import type { Source } from "../sources/source.ts";
import { earliest, newRun } from "./reconcile-step.ts";
import type { ReconciliationStore } from "./reconciliation-store.ts";
import type { SenderHistory } from "./sender-history.ts";

interface Dependencies {
  readonly reconciliationStore: ReconciliationStore;
  readonly histories: Readonly<Record<SenderName, Pick<SenderHistory, "keepsMs">>>;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Retention of received webhooks. */
  readonly keepMs: () => number;
}

/** A comparison on request. */
interface Requested {
  /** Beginning; null for the end of the last one. */
  readonly from: Date | null;
  /** Counts what is missing and recovers nothing. */
  readonly dryRun: boolean;
}

export type Reconciliations = ReturnType<typeof createReconciliations>;

/** Creates the operations on comparisons with senders' lists: start and end them with the key, and request one. */
export function createReconciliations({ reconciliationStore, histories, outbox, clock, keepMs }: Dependencies) {
  return {
    find: reconciliationStore.find,
    list: reconciliationStore.list,

    /** The schedule of a source, in the transaction of its key. The first comparison begins with the source. */
    schedule: {
      start: (tx: Tx, { id, createdAt }: Source) => reconciliationStore.startSchedule(tx, id, clock.now(), createdAt),
      end: (tx: Tx, { id }: Source) => reconciliationStore.endSchedule(tx, id, clock.now()),
    },

    /** Starts a comparison now, unless one is under way. */
    async request(tx: Tx, caller: Caller, source: Source, { from, dryRun }: Requested) {
      const covered = await reconciliationStore.coveredTo(tx, source.id);
      if (source.senderKey === null || covered === null) return { outcome: "no-key" } as const;
      if (source.status !== "active") return { outcome: "paused" } as const;
      const now = clock.now();
      const history = histories[source.senderKey.sender];
      const fromAt = earliest(source, history, { keepMs: keepMs(), wanted: from ?? covered, clock });
      const run = { ...newRun(source, "request", { fromAt, toAt: now, now }), dryRun };
      if (!(await reconciliationStore.openRequested(tx, run))) return { outcome: "under-way" } as const;
      await outbox.append(tx, [audited(caller, { action: "webhook_source.reconcile", subject: source.id })]);
      return { outcome: "started", reconciliation: run } as const;
    },
  };
}
