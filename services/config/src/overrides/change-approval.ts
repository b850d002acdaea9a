import type { Configuration } from "@signalbox/config";
import { AppError, type Clock, type ErrorDetail, hours } from "@signalbox/core";
import type { Properties } from "../properties.ts";
import type { ChangeSet } from "./overrides.ts";
import type { PropertyCatalogue } from "./property-catalogue.ts";

interface Dependencies {
  readonly configuration: Pick<Configuration<Properties>, "get">;
  readonly catalogue: PropertyCatalogue;
  readonly clock: Clock;
}

/** Longest temporary change: a longer one should be permanent. */
const temporaryMaxMs = hours(24 * 366);

export type ChangeApproval = ReturnType<typeof createChangeApproval>;

/** Rules about changes that one operator may make alone, and about their duration. */
export function createChangeApproval({ configuration, catalogue, clock }: Dependencies) {
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
      refuse(names.filter(needsAnother).map((name) => secondOperator(name, field)));
    },

    /** Returns the refusals of a time in the past or too far ahead, and of the removal of an override for a time. */
    expiryRefusals({ changes, expiresAt }: ChangeSet): ErrorDetail[] {
      if (expiresAt === null) return [];
      const aheadMs = expiresAt.getTime() - clock.nowMs();
      const message = "expiresAt must be in the future, at most 366 days ahead.";
      const range = { field: "expiresAt", code: "out_of_range", message } as const;
      const unset = {
        field: "expiresAt",
        code: "not_allowed",
        message: "Only a set value can expire.",
      } as const;
      const isOutOfRange = aheadMs <= 0 || aheadMs > temporaryMaxMs;
      return [...(isOutOfRange ? [range] : []), ...(changes.some(({ set }) => !set) ? [unset] : [])];
    },
  };
}

const secondOperator = (name: string, field: string): ErrorDetail => ({
  ...{ field, code: "not_allowed" },
  message: `${name} is changed by two operators: propose the change, and another operator approves it.`,
});

function refuse(details: readonly ErrorDetail[]): void {
  if (details.length > 0) throw new AppError("validation_error", "A change is not allowed.", { details });
}
