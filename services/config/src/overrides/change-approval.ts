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
    return approval === "all" || (approval === "guarded" && catalogue.target(name).declaration.guarded === true);
  }
  return {
    /** @throws AppError `validation_error` when one of the properties needs a second operator. */
    assertOneOperator({ changes, fieldOf }: ChangeSet): void {
      refuse(
        changes.flatMap(({ name }, index) =>
          needsAnother(name) ? [secondOperator(name, fieldOf(index, "name"))] : [],
        ),
      );
    },

    /** The same for names that the server computed. */
    assertNames(names: readonly string[], field: string): void {
      refuse(names.filter(needsAnother).map((name) => secondOperator(name, field)));
    },

    /**
     * @throws AppError `validation_error` for a time in the past or too far ahead, or for the removal of an override.
     */
    assertExpiry({ changes, expiresAt }: ChangeSet): void {
      if (expiresAt === null) return;
      const aheadMs = expiresAt.getTime() - clock.nowMs();
      const message = "expiresAt must be in the future, at most 366 days ahead.";
      const range = { field: "expiresAt", code: "out_of_range", message } as const;
      const unset = {
        field: "expiresAt",
        code: "not_allowed",
        message: "Only a set value can expire.",
      } as const;
      if (aheadMs <= 0 || aheadMs > temporaryMaxMs) refuse([range]);
      if (changes.some(({ set }) => !set)) refuse([unset]);
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
