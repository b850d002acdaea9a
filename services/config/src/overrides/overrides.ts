import type { Caller } from "@signalbox/auth";
import type { ErrorDetail } from "@signalbox/core";
import { actorOf } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Change, Override } from "./override-store.ts";
import { type ChangeSet, judgeChanges } from "./plan-changes.ts";
import { changedEvent, type OverrideDependencies, type Revised, revise } from "./revise.ts";
import { expire, type Rollback, rollBack, toRestore } from "./undo-changes.ts";

/** Terms by which changes are judged; those of a dry run are not made. */
export interface Judging {
  /** Faults that the edge has found. */
  readonly refused: readonly ErrorDetail[];
  readonly dryRun: boolean;
}

export type Overrides = ReturnType<typeof createOverrides>;

/** The operations on overrides of properties, for every service that declares them. */
export function createOverrides(dependencies: OverrideDependencies) {
  const { outbox, overrideStore, catalogue, clock } = dependencies;

  /** Announces changes again; with an unchanged revision they have no effect where they are known. */
  async function announce(tx: Tx, changes: readonly Change[]): Promise<void> {
    const events = changes.map((changed) => changedEvent(changed, catalogue));
    if (events.length > 0) await outbox.append(tx, events);
  }

  /** Lists the active overrides by name, which nobody changes before the transaction ends. */
  async function lockInForce(tx: Tx): Promise<ReadonlyMap<string, Override>> {
    await overrideStore.lock(tx);
    return overrideStore.listIn(tx);
  }

  return {
    lockInForce,

    /** Makes changes in one revision; with `dryRun` only validates them. @throws AppError as `judgeChanges` */
    async change(tx: Tx, caller: Caller, wanted: ChangeSet, { refused, dryRun }: Judging) {
      const { changes, reason, expiresAt, fieldOf } = wanted;
      const inForce = await lockInForce(tx);
      const stale = judgeChanges(changes, inForce, dependencies, fieldOf, refused);
      if (stale || dryRun) return stale ?? [];
      const revised = changes.map(({ name, set, value }) => {
        const restores = expiresAt === null ? null : toRestore(inForce.get(name));
        return { name, set, value: set ? value : null, expiresAt: set ? expiresAt : null, restores };
      });
      const actionOf = ({ set }: Revised) => (set ? "property.set" : "property.unset");
      return revise(tx, revised, { by: actorOf(caller), reason, actionOf }, dependencies);
    },

    /** Resets every property to its override at a revision, in a new revision. */
    rollback: (tx: Tx, caller: Caller, wanted: Rollback) => rollBack(tx, caller, wanted, dependencies),

    /** Ends the expired overrides. */
    expire: (tx: Tx): Promise<Change[]> => expire(tx, dependencies),

    /**
     * Announces the newest change of each property again once it is this old. This repairs a log that lost its newest
     * records, or received a late one behind them.
     */
    async repeat(tx: Tx, ageMs: number): Promise<void> {
      await announce(tx, await overrideStore.newestBefore(tx, new Date(clock.nowMs() - ageMs)));
    },

    /**
     * Erases the reasons given by a purged account. The log keeps the newest change of each property forever, so those
     * are published again.
     */
    async eraseReasonsOf(tx: Tx, accountId: string): Promise<void> {
      await announce(tx, await overrideStore.eraseReasonsOf(tx, accountId));
    },
  };
}
