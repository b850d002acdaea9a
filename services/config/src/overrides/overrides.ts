import type { Caller } from "@signalbox/auth";
import { draft } from "@signalbox/contracts";
import { AppError, type Clock } from "@signalbox/core";
import { type Outbox, stateRepetitionMs } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Change, Override, OverrideStore } from "./override-store.ts";
import type { Elsewhere, PropertyCatalogue } from "./property-catalogue.ts";

interface Dependencies {
  readonly outbox: Pick<Outbox, "append">;
  readonly overrideStore: OverrideStore;
  readonly catalogue: PropertyCatalogue;
  readonly elsewhere: Elsewhere;
  readonly clock: Clock;
}

/** Which override a caller wants changed. */
interface Wanted {
  readonly name: string;
  /** The revision of this property's override that the caller has seen; 0 when there was none. */
  readonly expectedRevision: bigint;
  readonly reason: string | null;
}

type Secrecy = ReturnType<PropertyCatalogue["overridable"]>["secrecy"];

export type Overrides = ReturnType<typeof createOverrides>;

/**
 * Overrides of properties, for every service that declares them. Both operations throw AppError `not_found` for an unknown
 * name, `validation_error` for a property that takes no override or a rule that breaks, `conflict` when somebody else
 * changed it meanwhile.
 */
export function createOverrides({ outbox, overrideStore, catalogue, elsewhere, clock }: Dependencies) {
  return {
    /** Sets an override. @throws AppError `validation_error` also for a value that the declaration refuses. */
    async set(tx: Tx, caller: Caller, wanted: Wanted, value: unknown): Promise<Override> {
      const { secrecy } = catalogue.overridable(wanted.name);
      catalogue.assertFits(wanted.name, value);
      return change(tx, caller, wanted, { set: true, value }, secrecy);
    },

    /** Removes an override, so that the next source decides. */
    async unset(tx: Tx, caller: Caller, wanted: Wanted): Promise<void> {
      const { secrecy } = catalogue.overridable(wanted.name);
      await change(tx, caller, wanted, { set: false, value: null }, secrecy);
    },

    /**
     * Announces the newest change of each property again, once it has stood for a while. A log that lost its newest records, or took a late one behind them,
     * is set right this way; with the revision that they had, the changes change nothing where they are known.
     */
    async repeat(tx: Tx): Promise<void> {
      const changes = await overrideStore.newestBefore(tx, new Date(clock.nowMs() - stateRepetitionMs));
      const events = changes.map((changed) => changedEvent(changed, catalogue.secrecyOf(changed.name)));
      if (events.length > 0) await outbox.append(tx, events);
    },

    /**
     * Erases what an account of which nothing may stay gave as reasons. The log keeps the newest change of each property for
     * ever, so it gets those again; with the revision they had, they change nothing.
     */
    async eraseReasonsOf(tx: Tx, accountId: string): Promise<void> {
      const changes = await overrideStore.eraseReasonsOf(tx, accountId);
      const events = changes.map((changed) => changedEvent(changed, catalogue.secrecyOf(changed.name)));
      if (events.length > 0) await outbox.append(tx, events);
    },
  };

  async function change(
    tx: Tx,
    caller: Caller,
    { name, expectedRevision, reason }: Wanted,
    to: Pick<Change, "set" | "value">,
    secrecy: Secrecy,
  ): Promise<Override> {
    const revision = await overrideStore.nextRevision(tx);
    const now = (await overrideStore.find(tx, name))?.revision ?? 0n;
    if (now !== expectedRevision) {
      throw new AppError("conflict", `The override of ${name} is at revision ${now}.`, { field: "expectedRevision" });
    }
    const changed: Change = { name, ...to, revision, actor: caller.accountId, reason, changedAt: clock.now() };
    await overrideStore.save(tx, changed);
    catalogue.assertRules(name, await overrideStore.valuesIn(tx), elsewhere);
    const action = to.set ? "property.set" : "property.unset";
    const entry = audited(caller, { action, subject: name, fields: ["value"], reason });
    await outbox.append(tx, [changedEvent(changed, secrecy), entry]);
    return changed;
  }
}

function changedEvent(change: Change, secrecy: Secrecy) {
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
