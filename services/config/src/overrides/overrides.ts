import type { Caller } from "@signalbox/auth";
import type { ErrorDetail } from "@signalbox/core";
import { actorOf } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { ConfigService } from "../context/config-service.ts";
import { type Change, eraseReasons, lockNewestBefore, lockOverrides } from "./override-store.ts";
import { type ChangeSet, judgeChanges } from "./plan-changes.ts";
import { changedEvent, type Revised, revise } from "./revise.ts";
import { toRestore } from "./undo-changes.ts";

/** Terms by which changes are judged; those of a dry run are not made. */
export interface Judging {
  /** Faults that the edge has found. */
  readonly refused: readonly ErrorDetail[];
  readonly dryRun: boolean;
}

/** Makes changes in one revision; with `dryRun` only validates them. @throws AppError as `judgeChanges` */
export async function changeOverrides(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  { changes, reason, expiresAt, fieldOf }: ChangeSet,
  { refused, dryRun }: Judging,
) {
  const inForce = await lockOverrides(tx);
  const stale = judgeChanges(service, changes, inForce, fieldOf, refused);
  if (stale || dryRun) return stale ?? [];
  const revised = changes.map(({ name, set, value }) => {
    const restores = expiresAt === null ? null : toRestore(inForce.get(name));
    return { name, set, value: set ? value : null, expiresAt: set ? expiresAt : null, restores };
  });
  const actionOf = ({ set }: Revised) => (set ? "property.set" : "property.unset");
  return revise(service, tx, revised, { by: actorOf(caller), reason, actionOf });
}

/**
 * Announces the newest change of each property again once it is this old. This repairs a log that lost its newest
 * records, or received a late one behind them.
 */
export async function repeatOverrides(service: ConfigService, tx: Tx, ageMs: number): Promise<void> {
  await announce(service, tx, await lockNewestBefore(tx, new Date(service.clock.nowMs() - ageMs)));
}

/**
 * Erases the reasons given by a purged account. The log keeps the newest change of each property forever, so those are
 * published again.
 */
export async function eraseOverrideReasons(service: ConfigService, tx: Tx, accountId: string): Promise<void> {
  await announce(service, tx, await eraseReasons(tx, accountId));
}

/** Announces changes again; with an unchanged revision they have no effect where they are known. */
async function announce(service: ConfigService, tx: Tx, changes: readonly Change[]): Promise<void> {
  const events = changes.map((changed) => changedEvent(service, changed));
  if (events.length > 0) await service.outbox.append(tx, events);
}
