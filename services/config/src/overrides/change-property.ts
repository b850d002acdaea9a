import { draft } from "@signalbox/contracts";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Change, Override, OverrideStore } from "./override-store.ts";
import { isStorable, type PropertyCatalogue } from "./property-catalogue.ts";

const reasonLengthMax = 1_000;

export interface ChangeProperty {
  readonly name: string;
  /** Absent to remove the override. */
  readonly value?: unknown;
  /** The revision of this property's override that the caller has seen; 0 when there was none. */
  readonly expectedRevision: bigint;
  readonly reason: string | null;
  readonly actor: string;
}

interface Dependencies {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly overrides: OverrideStore;
  readonly catalogue: PropertyCatalogue;
  readonly clock: Clock;
}

/**
 * Sets or removes the override of a property, for every service that declares it. Answers the override now in force.
 * Throws AppError `validation_error` for a value the declaration refuses or a property that takes no override, `not_found`
 * for an unknown name, `conflict` when somebody else changed it meanwhile.
 */
export function createChangeProperty({ pool, outbox, overrides, catalogue, clock }: Dependencies) {
  return async function changeProperty(input: ChangeProperty): Promise<Override | null> {
    const declaration = catalogue.overridable(input.name);
    const set = input.value !== undefined;
    if (set) catalogue.assertFits(input.name, input.value);
    assertReason(input.reason);

    return inTransaction(pool, async (tx) => {
      const revision = await overrides.nextRevision(tx);
      const current = await overrides.find(input.name, tx);
      if ((current?.revision ?? 0n) !== input.expectedRevision) {
        const now = current?.revision ?? 0n;
        throw new AppError("conflict", `The override of ${input.name} is at revision ${now}.`, {
          field: "expectedRevision",
        });
      }
      const change: Change = {
        name: input.name,
        set,
        value: set ? input.value : null,
        revision,
        actor: input.actor,
        reason: input.reason,
        changedAt: clock.now(),
      };
      await overrides.save(tx, change);
      await outbox.append(tx, [changedEvent(change, declaration.secrecy)]);
      return set ? change : null;
    });
  };
}

function assertReason(reason: string | null): void {
  if (reason === null || (isStorable(reason) && reason.length <= reasonLengthMax)) return;
  const message = `reason must be plain text of at most ${reasonLengthMax} characters.`;
  throw new AppError("validation_error", message, { field: "reason" });
}

function changedEvent(change: Change, secrecy: "public" | "internal" | "sensitive") {
  return draft("config.changed", {
    subject: change.name,
    accountId: null,
    data: {
      property: change.name,
      set: change.set,
      value: change.value as never,
      revision: Number(change.revision),
      secrecy,
      actor: change.actor,
      reason: change.reason,
      changed_at: change.changedAt.toISOString(),
    },
  });
}
