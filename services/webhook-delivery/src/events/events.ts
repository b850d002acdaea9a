import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Tracer } from "@signalbox/telemetry";
import type { FanOut } from "../deliveries/fan-out.ts";
import type { CheckOutcome, EventChecks } from "../event-types/event-checks.ts";
import type { Misfit } from "../event-types/schema-check.ts";
import { type CustomEvent, customEventOf, digestOf } from "./custom-event.ts";
import type { EventStore } from "./event-store.ts";
import type { PublicationCounts } from "./publication-counts.ts";

interface EventDependencies {
  readonly eventStore: Pick<EventStore, "notePublished" | "digestsOf">;
  readonly eventChecks: EventChecks;
  readonly fanOut: FanOut;
  readonly publicationCounts: Pick<PublicationCounts, "count">;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

interface Publication {
  readonly id: string;
  readonly type: string;
  /** True for a repetition, which is not delivered a second time. */
  readonly duplicate: boolean;
  /** Mismatches with the schema of a type that only warns: JSON Pointers with the reason. */
  readonly warnings: readonly Misfit[];
}

export type PublishOutcome =
  | { readonly outcome: "published"; readonly published: readonly Publication[] }
  /** A different event was published under this id, before or in the same request. */
  | { readonly outcome: "conflict"; readonly index: number }
  | Extract<CheckOutcome, { readonly outcome: "misfit" }>;

export type Events = ReturnType<typeof createEvents>;

/** Creates the operation that publishes an account's own events. */
export function createEvents(dependencies: EventDependencies) {
  const { eventStore, eventChecks, fanOut, publicationCounts, clock, tracer } = dependencies;
  return {
    /** Checks the events against the schemas of their types, before the transaction that publishes them. */
    check: ({ accountId }: Caller, given: readonly CustomEvent[]) => eventChecks.check(accountId, given),

    /**
     * Stores the events with their deliveries, all or none. An event that was published before with the same content is
     * skipped.
     */
    async publish(
      tx: Tx,
      caller: Caller,
      given: readonly CustomEvent[],
      checked: CheckOutcome,
    ): Promise<PublishOutcome> {
      const { accountId } = caller;
      if (checked.outcome === "misfit") return checked;
      const now = clock.now();
      const digests = new Map<string, Buffer>();
      for (const [index, event] of given.entries()) {
        if (event.id === undefined) continue;
        const digest = digestOf(event);
        if (!(digests.get(event.id) ?? digest).equals(digest)) return { outcome: "conflict", index };
        digests.set(event.id, digest);
      }
      const fresh = await noteIds(tx, accountId, digests, now);
      const known = await eventStore.digestsOf(
        tx,
        accountId,
        [...digests.keys()].filter((id) => !fresh.has(id)),
      );
      const conflict = given.findIndex(
        ({ id = "" }) => known.has(id) && !digests.get(id)?.equals(known.get(id) ?? nothing),
      );
      if (conflict >= 0) return { outcome: "conflict", index: conflict };

      const left = new Set(fresh);
      const outgoing = given.map((event) => {
        const isNew = event.id === undefined || left.delete(event.id);
        return { isNew, event: customEventOf(event, accountId, now, tracer.traceparent()) };
      });
      const newEvents = outgoing.filter(({ isNew }) => isNew).map(({ event }) => event);
      await fanOut.deliver(tx, newEvents, newEvents);
      publicationCounts.count(tx, caller, newEvents.length);
      const published = outgoing.map(({ isNew, event: { id, type } }, index) => ({
        ...{ id, type, duplicate: !isNew },
        warnings: [checked.warnings[index] ?? []].flat(),
      }));

      return { outcome: "published", published };
    },
  };

  async function noteIds(tx: Tx, accountId: string, digests: ReadonlyMap<string, Buffer>, at: Date) {
    return digests.size === 0 ? new Set<string>() : eventStore.notePublished(tx, accountId, digests, at);
  }
}

const nothing = Buffer.alloc(0);
