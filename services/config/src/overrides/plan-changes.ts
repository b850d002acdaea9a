import { AppError, type ErrorDetail, isAppError } from "@signalbox/core";
import type { Override } from "./override-store.ts";
import type { Elsewhere, PropertyCatalogue } from "./property-catalogue.ts";

/** A requested change of one property; `set` false removes its override. */
export interface WantedChange {
  readonly name: string;
  readonly set: boolean;
  readonly value: unknown;
  /** The revision of this property's override that the caller has seen; 0 when there was none. */
  readonly expectedRevision: bigint;
}

interface Rules {
  readonly catalogue: PropertyCatalogue;
  readonly elsewhere: Elsewhere;
}

type FieldOf = (index: number, member: string) => string;

/**
 * Validates changes together against the active overrides.
 * @throws AppError `validation_error` with every fault: of these `refused` ones, where a name is unknown or repeated, a
 * property takes no override or refuses the value, or a rule between properties breaks; `conflict` when changes since
 * the caller's revision are the only fault.
 */
export function assertChanges(
  changes: readonly WantedChange[],
  inForce: ReadonlyMap<string, Override>,
  rules: Rules,
  fieldOf: FieldOf,
  refused: readonly ErrorDetail[] = [],
): void {
  const flaws = changes.flatMap((change, index) =>
    flawsOf(change, changes.slice(0, index), rules).map((flaw) => ({ ...flaw, field: fieldOf(index, flaw.field) })),
  );
  const broken = flaws.length > 0 ? [] : brokenAfter(changes, inForce, rules, fieldOf);
  const stale = changes.flatMap(({ name, expectedRevision }, index): ErrorDetail[] => {
    const now = inForce.get(name)?.revision ?? 0n;
    if (now === expectedRevision) return [];
    const message = `The override of ${name} is at revision ${now}.`;
    return [{ field: fieldOf(index, "expectedRevision"), code: "invalid_value", message }];
  });
  const details = [...refused, ...flaws, ...broken];
  if (details.length > 0) throw refusal([...details, ...stale]);
  const [first] = stale;
  if (first) throw new AppError("conflict", first.message, { field: first.field, details: stale });
}

function flawsOf(
  { name, set, value }: WantedChange,
  earlier: readonly WantedChange[],
  { catalogue }: Rules,
): readonly ErrorDetail[] {
  const message = `${name} can be changed only once in a revision.`;
  if (earlier.some((other) => other.name === name)) return [{ field: "name", code: "repeated", message }];
  return refusalsOf(() => {
    catalogue.overridable(name);
    if (set) catalogue.assertFits(name, value);
  });
}

/** @throws AppError `validation_error` when the changes together break a rule between properties. */
export function assertRulesAfter(
  changes: readonly Pick<WantedChange, "name" | "set" | "value">[],
  inForce: ReadonlyMap<string, Override>,
  rules: Rules,
  fieldOf: FieldOf,
): void {
  const details = brokenAfter(changes, inForce, rules, fieldOf);
  if (details.length > 0) throw refusal(details);
}

function brokenAfter(
  changes: readonly Pick<WantedChange, "name" | "set" | "value">[],
  inForce: ReadonlyMap<string, Override>,
  { catalogue, elsewhere }: Rules,
  fieldOf: FieldOf,
): ErrorDetail[] {
  const after = new Map([...inForce].map(([name, { value }]) => [name, value]));
  for (const { name, set, value } of changes) {
    if (set) after.set(name, value);
    else after.delete(name);
  }
  return changes.flatMap(({ name }, index) =>
    refusalsOf(() => catalogue.assertRules(name, after, elsewhere)).map((detail) => ({
      ...detail,
      field: fieldOf(index, detail.field),
    })),
  );
}

function refusalsOf(judge: () => void): readonly ErrorDetail[] {
  try {
    judge();
    return [];
  } catch (error) {
    if (!isAppError(error)) throw error;
    if (error.code === "validation_error") return error.details;
    if (error.code === "not_found") return [{ field: "name", code: "unknown_member", message: error.message }];
    throw error;
  }
}

const refusal = (details: readonly ErrorDetail[]): AppError =>
  new AppError("validation_error", "A change is not allowed.", { details });
