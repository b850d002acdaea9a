import { type ListRange, newestFirst, type Pool, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import type { ReceivedDelivery, Rejection } from "./delivery.ts";

const columns = {
  id: "text",
  sourceId: "text",
  deliveryId: "text",
  eventType: "text",
  contentType: "text",
  receivedAt: "timestamptz",
} as const;
const deliveries = table("received_deliveries", { ...columns, body: "bytea" });
/** What a list shows of a delivery: its size, not its bytes. */
const listed = `${table("received_deliveries", columns).columns}, octet_length(body) as "bodyBytes"`;
const listDeliveries = sql(
  "delivery.list",
  `select ${listed} from received_deliveries where source_id = $1 and ${newestFirst(2, "received_at")}`,
);

const rejections = table("rejections", {
  id: "text",
  sourceId: "text",
  reason: "text",
  status: "int4",
  bodyBytes: "int4",
  address: "text",
  rejectedAt: "timestamptz",
});
const insertRejection = sql(
  "rejection.insert",
  // Each one pushes out the one that is too old, so the bound holds at every moment and not only after a clean-up.
  `with gone as (
     delete from rejections where source_id = $2 and (rejected_at, id) <= (
       select rejected_at, id from rejections where source_id = $2 order by rejected_at desc, id desc offset $8 - 1 limit 1))
   insert into rejections (id, source_id, reason, status, body_bytes, address, rejected_at)
   select $1, $2, $3, $4, $5, $6, $7 where exists (select from sources where id = $2)`,
);
const listRejections = sql(
  "rejection.list",
  `select ${rejections.columns} from rejections where source_id = $1 and ${newestFirst(2, "rejected_at")}`,
);

export type ListedDelivery = Omit<ReceivedDelivery, "body"> & { readonly bodyBytes: number };

/** What partners sent, in PostgreSQL: taken and refused. */
export function createReceivingStore(pool: Pool) {
  return {
    /** False when the source already has a delivery of that id: the one check that makes a repetition harmless. */
    insertNew: (tx: Tx, delivery: ReceivedDelivery) => deliveries.insertNew(tx, delivery),
    list: async (sourceId: string, range: ListRange): Promise<ListedDelivery[]> =>
      (await pool.query<ListedDelivery>(listDeliveries, [sourceId, ...rangeValues(range)])).rows,
    /** Writes the rejection; of its source only the newest `perSource` stay. */
    async insertRejection(rejection: Rejection, perSource: number): Promise<void> {
      const { id, sourceId, reason, status, bodyBytes, address, rejectedAt } = rejection;
      await pool.query(insertRejection, [id, sourceId, reason, status, bodyBytes, address, rejectedAt, perSource]);
    },
    listRejections: async (sourceId: string, range: ListRange): Promise<Rejection[]> =>
      (await pool.query<Rejection>(listRejections, [sourceId, ...rangeValues(range)])).rows,
  };
}

export type ReceivingStore = ReturnType<typeof createReceivingStore>;
