import { Copies } from "@signalbox/cache";
import { draft } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited, systemActor } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { EventType, EventTypeStore } from "./event-type-store.ts";
import type { SchemaTimeout } from "./schema-thread.ts";

interface EnforcedDependencies {
  readonly pool: Pool;
  readonly eventTypeStore: Pick<EventTypeStore, "list" | "lock" | "save">;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** A type whose schema its events are checked against, unless it has an `enforcementReason`. */
export type EnforcedType = Pick<EventType, "accountId" | "name" | "revision" | "enforcement" | "enforcementReason"> & {
  /** As JSON. */
  readonly schema: string;
};

/** Time for which another instance may use an outdated type. */
const limits = { max: 1_000, ttlMs: seconds(1) };

export type EnforcedTypes = ReturnType<typeof createEnforcedTypes>;

/** Creates the cache of the types whose events are checked. */
export function createEnforcedTypes(dependencies: EnforcedDependencies) {
  const { pool, eventTypeStore } = dependencies;
  const copies = new Copies(async (accountId): Promise<ReadonlyMap<string, EnforcedType>> => {
    const types = await eventTypeStore.list(accountId);
    const enforced = types.filter(({ schema, enforcement }) => schema !== null && enforcement !== "off");
    return new Map(enforced.map((type) => [type.name, { ...type, schema: JSON.stringify(type.schema) }]));
  }, limits);
  return {
    /** Returns the account's types with a schema to check, by name; cached for a second. */
    ofAccount: (accountId: string) => copies.find(accountId),

    forgetAfter: (tx: Tx, accountId: string): void => copies.forgetAfter(tx, [accountId]),

    /** Lets a type whose schema cannot be applied only warn, unless it was changed meanwhile. */
    async downgrade({ accountId, name, revision }: EnforcedType, reason: SchemaTimeout): Promise<void> {
      await inTransaction(pool, async (tx) => {
        copies.forgetAfter(tx, [accountId]);
        const type = await eventTypeStore.lock(tx, accountId, name);
        if (type?.revision === revision) await saveDowngraded(dependencies, tx, type, reason);
      });
    },
  };
}

async function saveDowngraded(
  { eventTypeStore, outbox, clock }: EnforcedDependencies,
  tx: Tx,
  type: EventType,
  reason: SchemaTimeout,
): Promise<void> {
  const { id: subject, accountId, name } = type;
  const change = { enforcement: "warn", enforcementReason: reason } as const;
  await eventTypeStore.save(tx, { ...type, ...change, revision: type.revision + 1, updatedAt: clock.now() });
  const fields = ["enforcement", "enforcement_reason"];
  const data = { name, enforcement: "warn", enforcement_reason: reason, changed: fields };
  const action = "webhook_event_type.downgrade";
  await outbox.append(tx, [
    draft("webhook_event_type.downgraded", { subject, accountId, data }),
    audited(systemActor("delivery"), { action, accountId, subject, fields, reason }),
  ]);
}
