import { advisoryLock, type Pool, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { EventType } from "./event-type.ts";

const types = table("event_types", columns.event_types);
const saveType = types.update("description", "schema", "enforcement", "enforcementReason", "revision", "updatedAt");
const select = `select ${types.columns} from event_types`;
const findType = sql("event-type.find", `${select} where account_id = $1 and name = $2`);
const lockType = sql("event-type.lock", `${findType.text} for update`);
const listTypes = sql("event-type.list", `${select} where account_id = $1`);
const removeType = sql("event-type.remove", "delete from event_types where id = $1");

/** Stores the event types of accounts in PostgreSQL. An account has few enough to read them all. */
export function createEventTypeStore(pool: Pool) {
  const rowOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<EventType | null> =>
    (await from.query<EventType>(...query)).rows[0] ?? null;
  return {
    find: (accountId: string, name: string) => rowOf(pool, findType, [accountId, name]),
    lock: (tx: Tx, accountId: string, name: string) => rowOf(tx, lockType, [accountId, name]),
    list: async (accountId: string): Promise<EventType[]> => (await pool.query<EventType>(listTypes, [accountId])).rows,
    /** Lists the types, and blocks a concurrent insert until the transaction ends. */
    async lockAllOf(tx: Tx, accountId: string): Promise<EventType[]> {
      await advisoryLock(tx, `event-types:${accountId}`);
      return (await tx.query<EventType>(listTypes, [accountId])).rows;
    },
    insert: (tx: Tx, type: EventType): Promise<void> => types.insert(tx, type),
    save: async (tx: Tx, type: EventType): Promise<void> => void (await saveType(tx, type)),
    remove: async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeType, [id])),
  };
}

export type EventTypeStore = ReturnType<typeof createEventTypeStore>;
