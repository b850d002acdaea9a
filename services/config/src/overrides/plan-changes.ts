import { AppError, type ErrorDetail, hours, isAppError } from "@signalbox/core";
import type { ConfigService } from "../context/config-service.ts";
import { elsewhereOf } from "../state/property-catalogue.ts";
import type { Override } from "./override-store.ts";

/** A change of one property; `set` false removes its override. */
export interface PlannedChange {
  readonly name: string;
  readonly set: boolean;
  readonly value: unknown;
}

/** A requested change of one property. */
export interface WantedChange extends PlannedChange {
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

/**
 * Validates changes together against the active overrides. Their only fault may be that they are stale: changed since
 * the caller saw them.
 * @throws AppError `validation_error` with every fault: of these `refused` ones, where a name is unknown or repeated, a
 * property takes no override or refuses the value, or a rule between properties breaks.
 */
export function judgeChanges(
  service: ConfigService,
  changes: readonly WantedChange[],
  inForce: ReadonlyMap<string, Override>,
  fieldOf: FieldOf,
  refused: readonly ErrorDetail[] = [],
) {
  const flaws = changes.flatMap((change, index) =>
    flawsOf(service, change, changes.slice(0, index)).map((flaw) => ({ ...flaw, field: fieldOf(index, flaw.field) })),
  );
  const broken = flaws.length > 0 ? [] : brokenAfter(service, changes, inForce, fieldOf);
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
  { catalogue }: ConfigService,
  { name, set, value }: WantedChange,
  earlier: readonly WantedChange[],
): readonly ErrorDetail[] {
  const message = `${name} can only be changed once per revision.`;
  if (earlier.some((other) => other.name === name)) return [{ field: "name", code: "repeated", message }];
  return refusalsOf(() => {
    catalogue.assertOverridable(name);
    if (set) catalogue.assertFits(name, value);
  });
}

/** @throws AppError `validation_error` when the changes together break a rule between properties. */
export function assertRulesAfter(
  service: ConfigService,
  changes: readonly PlannedChange[],
  inForce: ReadonlyMap<string, Override>,
  fieldOf: FieldOf,
): void {
  const details = brokenAfter(service, changes, inForce, fieldOf);
  if (details.length > 0) throw refusal(details);
}

function brokenAfter(
  { catalogue, configuration }: ConfigService,
  changes: readonly PlannedChange[],
  inForce: ReadonlyMap<string, Override>,
  fieldOf: FieldOf,
): ErrorDetail[] {
  const elsewhere = elsewhereOf(configuration);
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

/** Longest temporary change: a longer one should be permanent. */
const temporaryMaxMs = hours(24 * 366);

/** Returns the refusals of properties that need a second operator. */
export const operatorRefusals = (
  service: ConfigService,
  { changes, fieldOf }: { readonly changes: readonly PlannedChange[]; readonly fieldOf: FieldOf },
): ErrorDetail[] =>
  changes.flatMap(({ name }, index) => {
    const message = `Changing ${name} needs two operators: propose the change and have another operator approve it.`;
    return needsAnother(service, name) ? [{ field: fieldOf(index, "name"), code: "not_allowed", message }] : [];
  });

/** @throws AppError `validation_error` for the same properties among changes that the server computed. */
export function assertOneOperator(service: ConfigService, changes: readonly PlannedChange[], field: string): void {
  const details = operatorRefusals(service, { changes, fieldOf: () => field });
  if (details.length > 0) throw refusal(details);
}

/** Returns the refusals of a time in the past or too far ahead, and of the removal of an override for a time. */
export function expiryRefusals({ clock }: ConfigService, { changes, expiresAt }: ChangeSet): ErrorDetail[] {
  if (expiresAt === null) return [];
  const refusals: ErrorDetail[] = [];
  const aheadMs = expiresAt.getTime() - clock.nowMs();
  const message = "expiresAt must be in the future, at most 366 days ahead.";
  if (aheadMs <= 0 || aheadMs > temporaryMaxMs) refusals.push({ field: "expiresAt", code: "out_of_range", message });
  if (changes.some(({ set }) => !set))
    refusals.push({ field: "expiresAt", code: "not_allowed", message: "Only a change with a value can expire." });
  return refusals;
}

/** Returns true when one operator may not change the property alone. */
function needsAnother({ configuration, catalogue }: ConfigService, name: string): boolean {
  const approval = configuration.get("config.approval");
  return approval === "all" || (approval === "guarded" && catalogue.isGuarded(name));
}
