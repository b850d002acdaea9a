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

/**
 * Validates changes together against the active overrides.
 * @throws AppError `not_found` for an unknown name, `validation_error` with every fault where a property takes no
 * override or refuses the value, or a rule between properties breaks, `conflict` for a change since the caller's
 * revision.
 */
export function assertChanges(
  changes: readonly WantedChange[],
  inForce: ReadonlyMap<string, Override>,
  { catalogue, elsewhere }: Rules,
  fieldOf: (index: number, member: string) => string,
): void {
  const repeated = changes.findIndex(({ name }, index) => changes.findIndex((other) => other.name === name) < index);
  if (repeated >= 0) throw refusal([{ ...nameRefused, field: fieldOf(repeated, "name") }]);
  const details = changes.flatMap(({ name, set, value }, index) =>
    refusalsOf(() => {
      catalogue.overridable(name);
      if (set) catalogue.assertFits(name, value);
    }).map((detail) => ({ ...detail, field: fieldOf(index, detail.field) })),
  );
  if (details.length > 0) throw refusal(details);
  changes.forEach(({ name, expectedRevision }, index) => {
    const now = inForce.get(name)?.revision ?? 0n;
    if (now === expectedRevision) return;
    const message = `The override of ${name} is at revision ${now}.`;
    throw new AppError("conflict", message, { field: fieldOf(index, "expectedRevision") });
  });
  assertRulesAfter(changes, inForce, { catalogue, elsewhere }, fieldOf);
}

const nameRefused = { code: "repeated", message: "A property can be changed only once in a revision." } as const;

/** @throws AppError `validation_error` when the changes together break a rule between properties. */
export function assertRulesAfter(
  changes: readonly Pick<WantedChange, "name" | "set" | "value">[],
  inForce: ReadonlyMap<string, Override>,
  { catalogue, elsewhere }: Rules,
  fieldOf: (index: number, member: string) => string,
): void {
  const after = new Map([...inForce].map(([name, { value }]) => [name, value]));
  for (const { name, set, value } of changes) {
    if (set) after.set(name, value);
    else after.delete(name);
  }
  const details = changes.flatMap(({ name }, index) =>
    refusalsOf(() => catalogue.assertRules(name, after, elsewhere)).map((detail) => ({
      ...detail,
      field: fieldOf(index, detail.field),
    })),
  );
  if (details.length > 0) throw refusal(details);
}

function refusalsOf(judge: () => void): readonly ErrorDetail[] {
  try {
    judge();
    return [];
  } catch (error) {
    if (isAppError(error) && error.code === "validation_error") return error.details;
    throw error;
  }
}

const refusal = (details: readonly ErrorDetail[]): AppError =>
  new AppError("validation_error", "A change is not allowed.", { details });
