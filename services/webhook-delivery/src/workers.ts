import type { AccessStates } from "@signalbox/auth";
import { hours, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { DeliveryDays } from "./delivery-days.ts";
import type { Removals } from "./endpoints/removals.ts";
import type { Operators } from "./operators/operators.ts";
import type { OrderHolds } from "./queue/order-holds.ts";
import type { QueueWorker } from "./queue/queue-worker.ts";
import type { Replays } from "./replays/replays.ts";

interface Dependencies {
  readonly queueWorker: QueueWorker;
  readonly orderHolds: OrderHolds;
  readonly replays: Pick<Replays, "step">;
  readonly deliveryDays: DeliveryDays;
  readonly removals: Removals;
  readonly operators: Operators;
  readonly accessStates: AccessStates;
  readonly pool: Pool;
  readonly metrics: Metrics;
  /** Tells the worker that something may be due. */
  readonly wake: () => void;
}

/** Twice this is how long a delivery waits in the hands of the dead. */
const takeOverEveryMs = seconds(1.5);

/** What waits because its endpoint has a rate, or was held and goes out slowly, is where it should be. */
const oldestDue = sql(
  "queue.oldest-due",
  `select coalesce(max(extract(epoch from statement_timestamp() - first.due_at)), 0)::float8 as age
   from endpoints as p cross join lateral (
     select due_at from delivery_queue where endpoint_id = p.id order by due_at limit 1) as first
   where p.status = 'enabled' and p.deleted_at is null and first.due_at < statement_timestamp()
     and coalesce(p.settings->'rate', 'null') = 'null' and (p.released_at is null or first.due_at > p.released_at)`,
);

/** More than so many need no exact figure. */
const countedMax = 100_000;

const waiting = sql(
  "queue.count",
  `select p.status = 'enabled' and p.deleted_at is null as enabled, count(*)::int as deliveries
   from (select endpoint_id from delivery_queue limit ${countedMax}) as q join endpoints as p on p.id = q.endpoint_id group by 1`,
);

/** Starts the long-running parts that are this service's own. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { queueWorker, orderHolds, replays, deliveryDays, removals, operators, accessStates, wake } = dependencies;
  runner.worker("deliveries", (signal, beat) => queueWorker.run(signal, beat));
  runner.every("leases of the dead", takeOverEveryMs, () => queueWorker.takeOver());
  runner.every("probes", seconds(2), () => queueWorker.probe());
  runner.every("order holds", seconds(1), () => orderHolds.parkStep());
  runner.every("replays", seconds(1), () => replays.step());
  runner.every("day tables", hours(1), () => deliveryDays.keep());
  runner.every("removals", seconds(1), () => removals.removeStep());
  runner.worker("operators", (signal, beat) => operators.run(signal, beat));
  // A role that was taken is such a change too.
  runner.defer("operator listener", accessStates.onChange(operators.wake));
  // What was held for an account is in the queue all the time.
  runner.defer("access listener", accessStates.onChange(wake));
  observeQueue(dependencies);
}

function observeQueue({ metrics, pool }: Dependencies): void {
  metrics.gauge("signalbox_webhook_due_age_seconds", async (gauge) => {
    const answer = await pool.query<{ age: number }>(oldestDue).catch(() => null);
    gauge.set({}, answer?.rows[0]?.age ?? 0);
  });
  // While the database is away the last values stay.
  metrics.gauge("signalbox_webhook_deliveries", async (gauge) => {
    const answer = await pool.query<{ enabled: boolean; deliveries: number }>(waiting).catch(() => null);
    const countOf = (enabled: boolean) => answer?.rows.find((row) => row.enabled === enabled)?.deliveries ?? 0;
    if (answer === null) return;
    gauge.set({ state: "pending" }, countOf(true));
    gauge.set({ state: "held" }, countOf(false));
  });
}
