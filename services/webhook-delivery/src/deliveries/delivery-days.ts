import type { Clock } from "@signalbox/core";
import { createDayTables, inTransaction, type Pool, sql, startOfDay } from "@signalbox/storage";
import { advanceIdleKeys, lockOrder, type OrderKey } from "./delivery-order.ts";

/** The state of a delivery is written several times: free room on a page keeps the new versions on it. */
const fillfactor = 80;
const tables = [
  { name: "webhook_events", column: "created_at", fillfactor },
  { name: "deliveries", column: "created_at", fillfactor },
  { name: "delivery_attempts", column: "started_at", fillfactor },
];

const batch = 5_000;
const unqueue = sql(
  "",
  `delete from delivery_queue where ctid = any (array(
     select ctid from delivery_queue where created_at < $1 limit ${batch}))
   returning endpoint_id as "endpointId", order_key as "orderKey"`,
);

/** Creates the tables of the days ahead, and drops those past the retention, with the held deliveries of those days. */
export async function keepDeliveryDays(pool: Pool, clock: Clock, keepMs: () => number): Promise<void> {
  // Held deliveries end with the retention too: no queue row may point to a dropped day.
  const oldest = new Date(startOfDay(clock.nowMs() - keepMs()));
  while (await unqueueSome(pool, oldest));
  await createDayTables({ pool, clock, keepMs }, tables).keep();
}

/** Removes a batch from the queue and releases the deliveries behind it. Returns false after the last batch. */
const unqueueSome = (pool: Pool, oldest: Date): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const { rows, rowCount } = await tx.query<OrderKey>(unqueue, [oldest]);
    const keys = rows.filter(({ orderKey }) => orderKey !== null);
    const endpointIds = keys.map(({ endpointId }) => endpointId);
    await lockOrder(tx, endpointIds);
    await advanceIdleKeys(tx, keys);
    return rowCount === batch;
  });
