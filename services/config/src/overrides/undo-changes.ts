import type { Caller } from "@signalbox/auth";
import { type Clock, isAppError, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { actorOf, systemActor } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { Change, Override, OverrideStore } from "./override-store.ts";
import { assertRulesAfter, judgeChanges } from "./plan-changes.ts";
import { type OverrideDependencies, type Revised, revise } from "./revise.ts";

/** A requested rollback. */
export interface Rollback {
  readonly toRevision: bigint;
  /** The newest revision that the caller has seen. */
  readonly expectedRevision: bigint;
  readonly reason: string;
  /** Throws when the caller may not change one of these alone. */
  readonly assertAllowed: (names: readonly string[]) => void;
}

/**
 * Resets every property to its override at a revision, in a new revision. Returns an empty list when nothing differs.
 * @throws AppError `validation_error` for a value that is no longer allowed.
 */
export async function rollBack(
  tx: Tx,
  caller: Caller,
  { toRevision, expectedRevision, reason, assertAllowed }: Rollback,
  dependencies: OverrideDependencies,
) {
  const { overrideStore, clock } = dependencies;
  const now = await overrideStore.lock(tx);
  if (toRevision > now) return { outcome: "no-such-revision", revision: toRevision } as const;
  if (expectedRevision !== now) return { outcome: "newer-revision", newest: now } as const;
  const inForce = await overrideStore.listIn(tx);
  const revised = differences(inForce, await overrideStore.listAt(tx, toRevision), clock.now());
  assertAllowed(revised.map(({ name }) => name));
  const wanted = revised.map((each) => ({ ...each, expectedRevision: inForce.get(each.name)?.revision ?? 0n }));
  const stale = judgeChanges(wanted, inForce, dependencies, () => "toRevision");
  if (stale) return stale;
  const actionOf = () => "property.rollback" as const;
  return revise(tx, revised, { by: actorOf(caller), reason, actionOf }, dependencies);
}

/**
 * Ends the expired overrides and restores the last permanent values, all in one revision.
 * @throws AppError `validation_error` when that would break a rule between properties.
 */
export async function expire(tx: Tx, dependencies: OverrideDependencies): Promise<Change[]> {
  const { overrideStore, clock } = dependencies;
  await overrideStore.lock(tx);
  const inForce = await overrideStore.listIn(tx);
  const over = [...inForce.values()].filter(({ expiresAt }) => expiresAt !== null && expiresAt <= clock.now());
  const revised: Revised[] = [];
  for (const override of over) revised.push(await restored(tx, override, dependencies));
  assertRulesAfter(revised, inForce, dependencies, (_index, member) => member);
  const setBy = new Map(over.map(({ name, actor }) => [name, actor]));
  const actionOf = () => "property.expire" as const;
  const how = { by: systemActor("expiry"), reason: null, actionOf, auditOf: (name: string) => setBy.get(name) };
  return revise(tx, revised, how, dependencies);
}

/** Finds the last permanent change: a temporary one over another temporary one restores the value before both. */
export const toRestore = (override: Override | undefined): bigint =>
  override === undefined ? 0n : override.expiresAt === null ? override.revision : (override.restores ?? 0n);

async function restored(
  tx: Tx,
  { name, restores }: Override,
  { overrideStore }: Pick<OverrideDependencies, "overrideStore">,
): Promise<Revised> {
  const before = restores ? await overrideStore.findChange(tx, name, restores) : null;
  const [set, value] = before?.set ? [true, before.value] : [false, null];
  return { name, set, value, expiresAt: null, restores: null };
}

/**
 * Computes the differences between the active overrides and those at a revision. A temporary one that has expired since
 * counts as removed.
 */
function differences(inForce: ReadonlyMap<string, Override>, then: readonly Change[], now: Date): Revised[] {
  const before = new Map(
    then
      .filter(({ set, expiresAt }) => set && (expiresAt === null || expiresAt > now))
      .map((each) => [each.name, each]),
  );
  const names = [...new Set([...inForce.keys(), ...before.keys()])].sort();
  return names.flatMap((name): Revised[] => {
    const [was, is] = [before.get(name), inForce.get(name)];
    if (JSON.stringify(was?.value) === JSON.stringify(is?.value) && (was === undefined) === (is === undefined))
      return [];
    if (was === undefined) return [{ name, set: false, value: null, expiresAt: null, restores: null }];
    const { value, expiresAt, restores } = was;
    return [{ name, set: true, value, expiresAt, restores }];
  });
}

interface ExpiryDependencies {
  readonly pool: Pool;
  readonly overrides: { readonly expire: (tx: Tx) => Promise<readonly Change[]> };
  readonly overrideStore: Pick<OverrideStore, "listExpired">;
  readonly runner: Pick<Runner, "every">;
  readonly log: Logger;
  readonly clock: Clock;
}

const lookEveryMs = seconds(1);

export interface Expiry {
  /** Lists the reasons why expired overrides are still active, a sentence each. */
  problems(): readonly string[];
}

/** Ends expired overrides, and reports those that a rule between properties keeps active. */
export function startExpiry({ pool, overrides, overrideStore, runner, log, clock }: ExpiryDependencies): Expiry {
  let problems: readonly string[] = [];

  runner.every("override expiry", lookEveryMs, async () => {
    const over = await overrideStore.listExpired(clock.now());
    try {
      if (over.length > 0) await inTransaction(pool, overrides.expire);
      problems = [];
    } catch (error) {
      if (!isAppError(error) || error.code !== "validation_error") throw error;
      const now = error.details.map(({ message }) => `an expired override stays active: ${message}`);
      if (now.join() !== problems.join()) log.warn({ problems: now }, "expired overrides cannot end");
      problems = now;
    }
  });
  return { problems: () => problems };
}
