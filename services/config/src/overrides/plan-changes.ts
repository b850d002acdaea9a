import type { Configuration } from "@signalbox/config";
import { AppError, type Clock, type ErrorDetail, hours, isAppError } from "@signalbox/core";
import type { Properties } from "../properties.ts";
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

/** Changes in one revision: all of them or none. */
export interface ChangeSet {
  readonly changes: readonly WantedChange[];
  readonly reason: string | null;
  /** Time at which the changes expire. */
  readonly expiresAt: Date | null;
  /** Names a member of a change as in the caller's input. */
  readonly fieldOf: FieldOf;
}

type FieldOf = (index: number, member: string) => string;

interface Rules {
  readonly catalogue: PropertyCatalogue;
  readonly elsewhere: Elsewhere;
}

/**
 * Validates changes together against the active overrides. Their only fault may be that they are stale: changed since
 * the caller saw them.
 * @throws AppError `validation_error` with every fault: of these `refused` ones, where a name is unknown or repeated, a
 * property takes no override or refuses the value, or a rule between properties breaks.
 */
export function judgeChanges(
  changes: readonly WantedChange[],
  inForce: ReadonlyMap<string, Override>,
  rules: Rules,
  fieldOf: FieldOf,
  refused: readonly ErrorDetail[] = [],
) {
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
  return stale.length > 0 ? ({ outcome: "properties-changed", details: stale } as const) : null;
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

interface ApprovalDependencies {
  readonly configuration: Pick<Configuration<Properties>, "get">;
  readonly catalogue: PropertyCatalogue;
  readonly clock: Clock;
}

/** Longest temporary change: a longer one should be permanent. */
const temporaryMaxMs = hours(24 * 366);

export type ChangeApproval = ReturnType<typeof createChangeApproval>;

/** Rules about changes that one operator may make alone, and about their duration. */
export function createChangeApproval({ configuration, catalogue, clock }: ApprovalDependencies) {
  function needsAnother(name: string): boolean {
    const approval = configuration.get("config.approval");
    return approval === "all" || (approval === "guarded" && catalogue.isGuarded(name));
  }
  return {
    /** Returns the refusals of properties that need a second operator. */
    operatorRefusals: ({ changes, fieldOf }: ChangeSet): ErrorDetail[] =>
      changes.flatMap(({ name }, index) => (needsAnother(name) ? [secondOperator(name, fieldOf(index, "name"))] : [])),

    /** @throws AppError `validation_error` for the same properties among names that the server computed. */
    assertNames(names: readonly string[], field: string): void {
      const details = names.filter(needsAnother).map((name) => secondOperator(name, field));
      if (details.length > 0) throw refusal(details);
    },

    /** Returns the refusals of a time in the past or too far ahead, and of the removal of an override for a time. */
    expiryRefusals({ changes, expiresAt }: ChangeSet): ErrorDetail[] {
      if (expiresAt === null) return [];
      const aheadMs = expiresAt.getTime() - clock.nowMs();
      const message = "expiresAt must be in the future, at most 366 days ahead.";
      const range = { field: "expiresAt", code: "out_of_range", message } as const;
      const unset = { field: "expiresAt", code: "not_allowed", message: "Only a set value can expire." } as const;
      const isOutOfRange = aheadMs <= 0 || aheadMs > temporaryMaxMs;
      return [...(isOutOfRange ? [range] : []), ...(changes.some(({ set }) => !set) ? [unset] : [])];
    },
  };
}

const secondOperator = (name: string, field: string): ErrorDetail => ({
  field,
  code: "not_allowed",
  message: `${name} is changed by two operators: propose the change, and another operator approves it.`,
});
