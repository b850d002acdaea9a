import type { Caller } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { actorOf, systemActor } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { ConfigService } from "../context/config-service.ts";
import {
  type Change,
  findChange,
  listAt,
  listExpired,
  lockOverrides,
  lockRevisions,
  type Override,
  overridesByName,
} from "./override-store.ts";
import { type Revised, revise } from "./overrides.ts";
import { assertOneOperator, assertRulesAfter, judgeChanges } from "./plan-changes.ts";

/** A requested rollback. */
export interface Rollback {
  readonly toRevision: bigint;
  /** The newest revision that the caller has seen. */
  readonly expectedRevision: bigint;
  readonly reason: string;
}

/**
 * Resets every property to its override at a revision, in a new revision. Returns an empty list when nothing differs.
 * @throws AppError `validation_error` for a value that is no longer allowed, and for a property that needs a second
 * operator.
 */
export async function rollBack(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  { toRevision, expectedRevision, reason }: Rollback,
) {
  const now = await lockRevisions(tx);
  if (toRevision > now) return { outcome: "no-such-revision", revision: toRevision } as const;
  if (expectedRevision !== now) return { outcome: "newer-revision", newest: now } as const;
  const inForce = await overridesByName(tx);
  const revised = differences(inForce, await heldSince(tx, toRevision, service.clock.now()));
  assertOneOperator(service, revised, "toRevision");
  const wanted = revised.map((each) => ({ ...each, expectedRevision: inForce.get(each.name)?.revision ?? 0n }));
  const stale = judgeChanges(service, wanted, inForce, () => "toRevision");
  if (stale) return stale;
  return revise(service, tx, revised, { by: actorOf(caller), reason, actionOf: () => "property.rollback" });
}

/** Ends expired overrides, if there are any, and notes those that a rule between properties keeps active. */
export async function expireDueOverrides(service: ConfigService): Promise<void> {
  const { pool, clock, log } = service;
  const over = await listExpired(pool, clock.now());
  try {
    if (over.length > 0) await inTransaction(pool, (tx) => expireOverrides(service, tx));
    service.expiryProblems = [];
  } catch (error) {
    if (!isAppError(error) || error.code !== "validation_error") throw error;
    const problems = error.details.map(({ message }) => `an expired override is still active: ${message}`);
    if (problems.join() !== service.expiryProblems.join())
      log.warn({ problems }, "expired overrides could not be removed");
    service.expiryProblems = problems;
  }
}

/**
 * Ends the expired overrides and restores the last permanent values, all in one revision.
 * @throws AppError `validation_error` when that would break a rule between properties.
 */
async function expireOverrides(service: ConfigService, tx: Tx): Promise<Change[]> {
  const inForce = await lockOverrides(tx);
  const over = [...inForce.values()].filter(({ expiresAt }) => expiresAt !== null && expiresAt <= service.clock.now());
  const revised: Revised[] = [];
  for (const override of over) revised.push(await restored(tx, override));
  assertRulesAfter(service, revised, inForce, (_index, member) => member);
  const setBy = new Map(over.map(({ name, actor }) => [name, actor]));
  const actionOf = () => "property.expire" as const;
  const how = { by: systemActor("expiry"), reason: null, actionOf, auditOf: (name: string) => setBy.get(name) };
  return revise(service, tx, revised, how);
}

/** The effect of a removal, which is for good. */
const unset = { set: false, value: null, expiresAt: null, restores: null };

async function restored(tx: Tx, { name, restores }: Override): Promise<Revised> {
  const before = restores ? await findChange(tx, name, restores) : null;
  return { name, ...unset, ...(before?.set && { set: true, value: before.value }) };
}

/** Lists the overrides at a revision as they hold now: an expired one has given way to the last permanent value. */
async function heldSince(tx: Tx, revision: bigint, now: Date): Promise<Revised[]> {
  const held: Revised[] = [];
  for (const change of await listAt(tx, revision)) {
    const isOver = change.expiresAt !== null && change.expiresAt <= now;
    held.push(isOver ? await restored(tx, change) : change);
  }
  return held.filter(({ set }) => set);
}

/** Computes the differences between the active overrides and those of a revision. */
function differences(inForce: ReadonlyMap<string, Override>, then: readonly Revised[]): Revised[] {
  const before = new Map(then.map((each) => [each.name, each]));
  const names = [...new Set([...inForce.keys(), ...before.keys()])].sort();
  return names.flatMap((name): Revised[] => {
    const [was, is] = [before.get(name), inForce.get(name)];
    if (JSON.stringify(was?.value) === JSON.stringify(is?.value) && (was === undefined) === (is === undefined))
      return [];
    return [was ?? { name, ...unset }];
  });
}
