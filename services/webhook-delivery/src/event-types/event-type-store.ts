import { advisoryLock, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { EventType } from "./event-type.ts";

const types = table("event_types", columns.event_types);
const save = types.update("description", "schema", "enforcement", "enforcementReason", "revision", "updatedAt");
const select = `select ${types.columns} from event_types`;
const find = sql("event-type.find", `${select} where account_id = $1 and name = $2`);
const lock = sql("event-type.lock", `${find.text} for update`);
const list = sql("event-type.list", `${select} where account_id = $1`);
const remove = sql("event-type.remove", "delete from event_types where id = $1");

const rowOf = async (db: Queryable, ...query: Parameters<Queryable["query"]>): Promise<EventType | null> =>
  (await db.query<EventType>(...query)).rows[0] ?? null;

export const findEventType = (db: Queryable, accountId: string, name: string): Promise<EventType | null> =>
  rowOf(db, find, [accountId, name]);

export const lockEventType = (tx: Tx, accountId: string, name: string): Promise<EventType | null> =>
  rowOf(tx, lock, [accountId, name]);

/** Lists the types of an account, which has few enough to read them all. */
export const listEventTypes = async (db: Queryable, accountId: string): Promise<EventType[]> =>
  (await db.query<EventType>(list, [accountId])).rows;

/** Lists the types, and blocks a concurrent insert until the transaction ends. */
export async function lockEventTypesOf(tx: Tx, accountId: string): Promise<EventType[]> {
  await advisoryLock(tx, `event-types:${accountId}`);
  return listEventTypes(tx, accountId);
}

export const insertEventType = (tx: Tx, type: EventType): Promise<void> => types.insert(tx, type);
export const saveEventType = async (tx: Tx, type: EventType): Promise<void> => void (await save(tx, type));
export const removeEventType = async (tx: Tx, id: string): Promise<void> => void (await tx.query(remove, [id]));
