import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, newId, type Patch, patched } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { EnforcedTypes } from "./enforced-types.ts";
import type { EventType, EventTypeStore } from "./event-type-store.ts";
import type { SchemaThreads } from "./schema-threads.ts";

interface EventTypeDependencies {
  readonly eventTypeStore: EventTypeStore;
  readonly enforcedTypes: Pick<EnforcedTypes, "forgetAfter">;
  readonly schemaThreads: Pick<SchemaThreads, "ask">;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export type NewEventType = Pick<EventType, "name" | "description" | "schema" | "enforcement">;
export type EventTypeChange = Patch<Omit<NewEventType, "name">>;

export type CreatedType =
  | { readonly outcome: "created"; readonly type: EventType }
  | { readonly outcome: "exists" }
  | { readonly outcome: "limit-reached"; readonly max: number };

const typesMax = 500;

export type EventTypes = ReturnType<typeof createEventTypes>;

/** Creates the operations on event types that accounts declare. */
export function createEventTypes({
  eventTypeStore,
  enforcedTypes,
  schemaThreads,
  outbox,
  clock,
}: EventTypeDependencies) {
  async function written(
    tx: Tx,
    caller: Caller,
    action: "create" | "update" | "delete",
    type: EventType,
  ): Promise<void> {
    enforcedTypes.forgetAfter(tx, type.accountId);
    await outbox.append(tx, [audited(caller, { action: `webhook_event_type.${action}`, subject: type.id })]);
  }

  return {
    /**
     * Compiles the schema that a type is to have, before the transaction that writes it.
     * @throws AppError `validation_error` on `schema`
     */
    async requireUsable({ accountId }: Caller, { schema = null }: Pick<EventTypeChange, "schema">): Promise<void> {
      if (schema === null) return;
      const question = { schema: JSON.stringify(schema), data: [], checkMsMax: 1 };
      const { answer } = await schemaThreads.ask(accountId, question);
      if (answer.outcome === "timeout") throw unusable("The schema takes too long to compile.");
      if (answer.outcome === "unusable") throw unusable(answer.message);
    },

    /** Declares a type. Its schema has passed `requireUsable`. */
    async create(tx: Tx, caller: Caller, wanted: NewEventType): Promise<CreatedType> {
      const { accountId } = caller;
      const own = await eventTypeStore.lockAllOf(tx, accountId);
      if (own.some(({ name }) => name === wanted.name)) return { outcome: "exists" };
      if (own.length >= typesMax) return { outcome: "limit-reached", max: typesMax };
      const at = clock.now();
      const id = newId("wht", at.getTime());
      const type = { ...wanted, id, accountId, enforcementReason: null, revision: 1, createdAt: at, updatedAt: at };
      await eventTypeStore.insert(tx, type);
      await written(tx, caller, "create", type);
      return { outcome: "created", type };
    },

    /** Changes a type. With another schema or enforcement its events are checked again. */
    async update(tx: Tx, caller: Caller, type: EventType, change: EventTypeChange): Promise<EventType> {
      const isChecked = change.schema !== undefined || change.enforcement !== undefined;
      const changed = {
        ...patched<EventType>(type, change),
        enforcementReason: isChecked ? null : type.enforcementReason,
        revision: type.revision + 1,
        updatedAt: clock.now(),
      };
      await eventTypeStore.save(tx, changed);
      await written(tx, caller, "update", changed);
      return changed;
    },

    async delete(tx: Tx, caller: Caller, type: EventType): Promise<void> {
      await eventTypeStore.remove(tx, type.id);
      await written(tx, caller, "delete", type);
    },
  };
}

function unusable(problem: string): AppError {
  const details = [{ field: "schema", code: "invalid" as const, message: problem.slice(0, 500) }];
  return new AppError("validation_error", "The schema cannot be used.", { details });
}
