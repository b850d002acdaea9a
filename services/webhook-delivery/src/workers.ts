import type { AccessStates } from "@signalbox/auth";
import { hours, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { DeliveryDays } from "./delivery-days.ts";
import type { Removals } from "./endpoints/removals.ts";
import type { QueueWorker } from "./queue/queue-worker.ts";

interface Dependencies {
  readonly queueWorker: QueueWorker;
  readonly deliveryDays: DeliveryDays;
  readonly removals: Removals;
  readonly accessStates: AccessStates;
  readonly pool: Pool;
  readonly metrics: Metrics;
  /** Tells the worker that something may be due. */
  readonly wake: () => void;
}

/** Twice this is how long a delivery waits in the hands of the dead. */
const takeOverEveryMs = seconds(1.5);

const oldestDue = sql(
  "queue.oldest-due",
  `select coalesce(max(extract(epoch from statement_timestamp() - first.due_at)), 0)::float8 as age
   from endpoints as p cross join lateral (
     select due_at from delivery_queue where endpoint_id = p.id order by due_at limit 1) as first
   where p.status = 'enabled' and p.deleted_at is null and first.due_at < statement_timestamp()`,
);

/** Starts the long-running parts that are this service's own. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { queueWorker, deliveryDays, removals, accessStates, wake } = dependencies;
  runner.worker("deliveries", (signal, beat) => queueWorker.run(signal, beat));
  runner.every("leases of the dead", takeOverEveryMs, () => queueWorker.takeOver());
  runner.every("day tables", hours(1), () => deliveryDays.keep());
  runner.every("removals", seconds(1), () => removals.removeStep());
  // What was held for an account is in the queue all the time.
  runner.defer("access listener", accessStates.onChange(wake));
  observeDueAge(dependencies);
}

function observeDueAge({ metrics, pool }: Dependencies): void {
  const name = "signalbox_webhook_due_age_seconds";
  metrics.gauge(name, "How long the oldest due delivery has waited", [], async (gauge) => {
    const answer = await pool.query<{ age: number }>(oldestDue).catch(() => null);
    gauge.set({}, answer?.rows[0]?.age ?? 0);
  });
}
