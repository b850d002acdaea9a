import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, newId, type Patch, patched, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { EventType, EventTypeStore } from "./event-type-store.ts";
import { compileSchema, type Misfit, type SchemaCheck } from "./schema-check.ts";

interface EventTypeDependencies {
  readonly eventTypeStore: EventTypeStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export type NewEventType = Pick<EventType, "name" | "description" | "schema" | "enforcement">;
export type EventTypeChange = Patch<Omit<NewEventType, "name">>;

export type CreatedType =
  | { readonly outcome: "created"; readonly type: EventType }
  | { readonly outcome: "exists" }
  | { readonly outcome: "limit-reached"; readonly max: number };

/** A type whose schema its events are checked against. */
export interface EnforcedType {
  readonly enforcement: "warn" | "block";
  readonly check: (data: unknown) => Misfit | null;
}

const typesMax = 500;
/** Time for which another instance may use an outdated type. */
const rememberMs = seconds(1);
const accountsMax = 1_000;

export type EventTypes = ReturnType<typeof createEventTypes>;

/** Creates the operations on event types that accounts declare. */
export function createEventTypes({ eventTypeStore, outbox, clock }: EventTypeDependencies) {
  const known = new LRUCache<string, ReadonlyMap<string, EnforcedType>>({ max: accountsMax, ttl: rememberMs });

  async function written(
    tx: Tx,
    caller: Caller,
    action: "create" | "update" | "delete",
    type: EventType,
  ): Promise<void> {
    tx.afterCommit(() => void known.delete(type.accountId));
    await outbox.append(tx, [audited(caller, { action: `webhook_event_type.${action}`, subject: type.id })]);
  }

  return {
    async create(tx: Tx, caller: Caller, wanted: NewEventType): Promise<CreatedType> {
      const { accountId } = caller;
      requireUsable(wanted.schema);
      const own = await eventTypeStore.lockAllOf(tx, accountId);
      if (own.some(({ name }) => name === wanted.name)) return { outcome: "exists" };
      if (own.length >= typesMax) return { outcome: "limit-reached", max: typesMax };
      const at = clock.now();
      const id = newId("wht", at.getTime());
      const type = { ...wanted, id, accountId, revision: 1, createdAt: at, updatedAt: at };
      await eventTypeStore.insert(tx, type);
      await written(tx, caller, "create", type);
      return { outcome: "created", type };
    },

    async update(tx: Tx, caller: Caller, type: EventType, change: EventTypeChange): Promise<EventType> {
      if (change.schema !== undefined) requireUsable(change.schema);
      const changed = { ...patched<EventType>(type, change), revision: type.revision + 1, updatedAt: clock.now() };
      await eventTypeStore.save(tx, changed);
      await written(tx, caller, "update", changed);
      return changed;
    },

    async delete(tx: Tx, caller: Caller, type: EventType): Promise<void> {
      await eventTypeStore.remove(tx, type.id);
      await written(tx, caller, "delete", type);
    },

    /** Returns the account's types with a schema to check, by name; compiled, and cached for a second. */
    async enforced(accountId: string): Promise<ReadonlyMap<string, EnforcedType>> {
      const remembered = known.get(accountId);
      if (remembered) return remembered;
      const found = new Map<string, EnforcedType>();
      for (const { id, revision, name, schema, enforcement } of await eventTypeStore.list(accountId)) {
        if (schema === null || enforcement === "off") continue;
        const check = compiledOnce(`${id} ${revision}`, schema);
        // A schema that was accepted and does not compile now refuses every event.
        const refuse = () => ({ pointer: "", message: String(check) });
        found.set(name, { enforcement, check: typeof check === "function" ? check : refuse });
      }
      known.set(accountId, found);
      return found;
    },
  };
}

const compiled = new LRUCache<string, SchemaCheck>({ max: 1_000 });

function compiledOnce(key: string, schema: object): SchemaCheck | string {
  const check = compiled.get(key) ?? compileSchema(schema);
  if (typeof check === "function") compiled.set(key, check);
  return check;
}

/** @throws AppError `validation_error` on `schema` */
function requireUsable(schema: object | null): void {
  const problem = schema === null ? null : compileSchema(schema);
  if (typeof problem !== "string") return;
  const details = [{ field: "schema", code: "invalid" as const, message: problem.slice(0, 500) }];
  throw new AppError("validation_error", "The schema cannot be used.", { details });
}
