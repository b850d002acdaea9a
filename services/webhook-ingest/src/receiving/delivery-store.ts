import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { ReceivedDelivery, Rejection } from "./delivery.ts";

/** A position in a list, newest first. */
export interface ListPosition {
  readonly at: Date;
  readonly id: string;
}

const insertDelivery = sql(
  "deliveries.insert",
  `insert into received_deliveries (id, source_id, delivery_id, event_type, content_type, body, received_at)
   values ($1, $2, $3, $4, $5, $6, $7) on conflict (source_id, delivery_id) do nothing`,
);
const listDeliveries = sql(
  "deliveries.list",
  `select id, source_id as "sourceId", delivery_id as "deliveryId", event_type as "eventType", content_type as "contentType",
     octet_length(body) as "bodyBytes", received_at as "receivedAt"
   from received_deliveries where source_id = $1 and (received_at, id) < ($2, $3) order by received_at desc, id desc limit $4`,
);
const insertRejection = sql(
  "rejections.insert",
  // Each one pushes out the one that is too old, so the bound holds at every moment and not only after a clean-up.
  `with gone as (
     delete from rejections where source_id = $2 and (rejected_at, id) <= (
       select rejected_at, id from rejections where source_id = $2 order by rejected_at desc, id desc offset $8 - 1 limit 1))
   insert into rejections (id, source_id, reason, status, body_bytes, address, rejected_at)
   select $1, $2, $3, $4, $5, $6, $7 where exists (select from sources where id = $2)`,
);
const listRejections = sql(
  "rejections.list",
  `select id, source_id as "sourceId", reason, status, body_bytes as "bodyBytes", address, rejected_at as "rejectedAt"
   from rejections where source_id = $1 and (rejected_at, id) < ($2, $3) order by rejected_at desc, id desc limit $4`,
);
const trimDeliveries = sql(
  "deliveries.trim",
  "delete from received_deliveries where id in (select id from received_deliveries where received_at < $1 limit 5000)",
);

/** After every id and time: where a list begins that shows the newest first. */
const end: ListPosition = { at: new Date("9999-12-31T00:00:00.000Z"), id: "" };

export type ListedDelivery = Omit<ReceivedDelivery, "body"> & { readonly bodyBytes: number };

export function createDeliveryStore(pool: Pool) {
  return {
    /** False when the source already has a delivery of that id: the one check that makes a repetition harmless. */
    insertNew: async (tx: Tx, delivery: ReceivedDelivery): Promise<boolean> => {
      const { id, sourceId, deliveryId, eventType, contentType, body, receivedAt } = delivery;
      const values = [id, sourceId, deliveryId, eventType, contentType, body, receivedAt];
      return (await tx.query(insertDelivery, values)).rowCount === 1;
    },
    /** One more than `limit`, newest first. */
    list: async (sourceId: string, limit: number, after: ListPosition = end): Promise<ListedDelivery[]> =>
      (await pool.query<ListedDelivery>(listDeliveries, [sourceId, after.at, after.id, limit + 1])).rows,
    /** Writes the rejection; of its source only the newest `perSource` stay. */
    insertRejection: async (rejection: Rejection, perSource: number): Promise<void> => {
      const { id, sourceId, reason, status, bodyBytes, address, rejectedAt } = rejection;
      await pool.query(insertRejection, [id, sourceId, reason, status, bodyBytes, address, rejectedAt, perSource]);
    },
    listRejections: async (sourceId: string, limit: number, after: ListPosition = end): Promise<Rejection[]> =>
      (await pool.query<Rejection>(listRejections, [sourceId, after.at, after.id, limit + 1])).rows,
    /** Removes deliveries received before `before`; answers how many, at most 5,000. */
    trimDeliveries: async (before: Date): Promise<number> => (await pool.query(trimDeliveries, [before])).rowCount,
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
