import type { Clock } from "@signalbox/core";
import { createDayTables, inTransaction, type Pool, sql, startOfDay } from "@signalbox/storage";
import { advanceIdleKeys, lockOrder, type OrderKey } from "./queue/delivery-order.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly retentionMs: () => number;
}

/** The state of a delivery is written several times: room on its page keeps it there. */
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

/** Keeps the tables of days of events, deliveries and attempts. */
export function createDeliveryDays({ pool, clock, retentionMs }: Dependencies) {
  const dayTables = createDayTables({ pool, clock, keepMs: retentionMs }, tables);

  /** Takes a batch out of the queue; what waited behind it goes on. False when there was less than a batch. */
  const unqueueSome = (oldest: Date): Promise<boolean> =>
    inTransaction(pool, async (tx) => {
      const { rows, rowCount } = await tx.query<OrderKey>(unqueue, [oldest]);
      const keys = rows.filter(({ orderKey }) => orderKey !== null);
      await lockOrder(
        tx,
        keys.map(({ endpointId }) => endpointId),
      );
      await advanceIdleKeys(tx, keys);
      return rowCount === batch;
    });

  return {
    /** Makes the tables of the days ahead, and drops those that are past the retention, with what is held of them. */
    async keep(): Promise<void> {
      // Held deliveries end with the retention, too: nothing in the queue may point to a day that is gone.
      const oldest = new Date(startOfDay(clock.nowMs() - retentionMs()));
      while (await unqueueSome(oldest));
      await dayTables.keep();
    },
  };
}

export type DeliveryDays = ReturnType<typeof createDeliveryDays>;
