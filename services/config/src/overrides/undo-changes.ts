import type { Caller } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { actorOf, systemActor } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Change, Override } from "./override-store.ts";
import { assertChanges, assertRulesAfter } from "./plan-changes.ts";
import { type OverrideDependencies, type Revised, revise } from "./revise.ts";

/** What a caller wants rolled back. */
export interface Rollback {
  readonly toRevision: bigint;
  /** The newest revision of all that the caller has seen. */
  readonly expectedRevision: bigint;
  readonly reason: string;
  /** Throws where the caller may not change one of these alone. */
  readonly assertAllowed: (names: readonly string[]) => void;
}

/**
 * Sets every property back to what its override was at a revision, in a new one. Answers nothing where nothing differs.
 * @throws AppError `conflict` when there are newer changes than the caller has seen, `validation_error` for a value that
 * is no longer allowed, `not_found` for a revision that was never given.
 */
export async function rollBack(
  tx: Tx,
  caller: Caller,
  { toRevision, expectedRevision, reason, assertAllowed }: Rollback,
  dependencies: OverrideDependencies,
): Promise<Change[]> {
  const { overrideStore, clock } = dependencies;
  const now = await overrideStore.lock(tx);
  if (toRevision > now) throw new AppError("not_found", `There is no revision ${toRevision}.`);
  if (expectedRevision !== now) {
    throw new AppError("conflict", `The newest revision is ${now}.`, { field: "expectedRevision" });
  }
  const inForce = await overrideStore.listIn(tx);
  const revised = differences(inForce, await overrideStore.listAt(tx, toRevision), clock.now());
  assertAllowed(revised.map(({ name }) => name));
  const wanted = revised.map((each) => ({ ...each, expectedRevision: inForce.get(each.name)?.revision ?? 0n }));
  assertChanges(wanted, inForce, dependencies, () => "toRevision");
  const actionOf = () => "property.rollback" as const;
  return revise(tx, revised, { by: actorOf(caller), reason, actionOf }, dependencies);
}

/**
 * Ends the overrides whose time is over: what was made to stay before comes back, all of them in one revision.
 * @throws AppError `validation_error` when a rule between properties would break by that.
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

/** The last change that was made to stay: a temporary one over another temporary one gives back what was before both. */
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

/** The overrides that differ between now and then. One that was temporary then and over by now counts as gone. */
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
