import type { AccessStates } from "@signalbox/auth";
import { hours, minutes, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { OrderHolds } from "./deliveries/order-holds.ts";
import type { DeliveryDays } from "./delivery-days.ts";
import type { Removals } from "./endpoints/removals.ts";
import type { Announcements } from "./events/announcements.ts";
import type { PublicationCounts } from "./events/publication-counts.ts";
import type { Operators } from "./operators/operators.ts";
import type { Consumers } from "./pull/consumers.ts";
import type { Listening } from "./pull/listening.ts";
import type { PullMessages } from "./pull/pull-messages.ts";
import type { Replays } from "./replays/replays.ts";
import type { ClaimLoop } from "./sending/claim-loop.ts";
import type { OpenLeases } from "./sending/open-leases.ts";

interface WorkerDependencies {
  readonly engine: {
    readonly claims: ClaimLoop;
    readonly orderHolds: OrderHolds;
  };
  readonly pull: {
    readonly pullMessages: Pick<PullMessages, "expireStep">;
    readonly consumers: Pick<Consumers, "fillStep">;
    readonly openLeases: Pick<OpenLeases, "look">;
    readonly listening: Pick<Listening, "endStep">;
  };
  readonly upkeep: {
    readonly deliveryDays: DeliveryDays;
    readonly removals: Pick<Removals, "removeStep">;
  };
  readonly replays: Pick<Replays, "step">;
  readonly operators: Operators;
  readonly events: {
    readonly publicationCounts: PublicationCounts;
    readonly announcements: Pick<Announcements, "step">;
  };
  readonly accessStates: AccessStates;
  /** Wakes the worker, because deliveries may be due. */
  readonly wake: () => void;
}

/** Interval of take-overs. A delivery leased by a dead instance waits twice as long. */
const takeOverEveryMs = seconds(1.5);

/** Interval between saves of the counts for the audit, which a killed instance loses since the last one. */
const saveCountsEveryMs = seconds(5);

/** Interval between messages to live observers about published events. */
const announceEveryMs = seconds(0.5);

/** Starts the workers of this service. */
export function startWorkers(runner: Runner, dependencies: WorkerDependencies): void {
  const { engine, pull, upkeep, replays, operators, events, accessStates, wake } = dependencies;
  const { claims, orderHolds } = engine;
  runner.worker("deliveries", (signal, beat) => claims.run(signal, beat));
  runner.every("orphaned leases", takeOverEveryMs, () => claims.takeOver());
  runner.every("probes", seconds(2), () => claims.probe());
  runner.every("order holds", seconds(1), () => orderHolds.parkStep());
  runner.every("expired leases", seconds(0.5), () => pull.pullMessages.expireStep());
  runner.every("leases of streams", seconds(1), () => pull.openLeases.look());
  runner.every("ends of listening", seconds(2), () => pull.listening.endStep());
  runner.every("starts of consumers", seconds(1), () => pull.consumers.fillStep());
  runner.every("replays", seconds(1), () => replays.step());
  runner.every("day tables", hours(1), () => upkeep.deliveryDays.keep());
  runner.every("removals", seconds(1), () => upkeep.removals.removeStep());
  runner.defer("announced events", () => events.announcements.step());
  runner.every("announced events", announceEveryMs, () => events.announcements.step());
  runner.defer("publication counts", () => events.publicationCounts.save());
  runner.every("publication counts", saveCountsEveryMs, () => events.publicationCounts.save());
  runner.every("published hours", minutes(1), () => events.publicationCounts.report());
  runner.worker("operators", (signal, beat) => operators.run(signal, beat));
  // A role that was taken away is a change of access too.
  runner.defer("operator listener", accessStates.onChange(operators.wake));
  // Deliveries held for an account never leave the queue, so that a wake-up is enough.
  runner.defer("access listener", accessStates.onChange(wake));
}

/** Age of the oldest due delivery. Deliveries delayed by a rate or by a slow release are not late and do not count. */
const oldestDue = sql(
  "queue.oldest-due",
  `select coalesce(max(extract(epoch from statement_timestamp() - first.due_at)), 0)::float8 as age
   from endpoints as p cross join lateral (
     select due_at from delivery_queue where endpoint_id = p.id order by due_at limit 1) as first
   where p.status = 'enabled' and p.type = 'push' and p.deleted_at is null and first.due_at < statement_timestamp()
     and coalesce(p.settings->'rate', 'null') = 'null' and (p.released_at is null or first.due_at > p.released_at)`,
);

/** Upper bound of the count: no alert needs a larger exact figure. */
const countedMax = 100_000;

const waiting = sql(
  "queue.count",
  `select p.status = 'enabled' and p.deleted_at is null as enabled, count(*)::int as deliveries,
     count(*) filter (where q.due_at < statement_timestamp() and p.type = 'push'
       and coalesce(p.settings->'rate', 'null') = 'null')::int as due
   from (select endpoint_id, due_at from delivery_queue limit ${countedMax}) as q
   join endpoints as p on p.id = q.endpoint_id group by 1`,
);

/** Measures the queue: its age for alerts, its length for an overview and for KEDA. */
export function observeQueue(metrics: Metrics, pool: Pool): void {
  metrics.gauge("signalbox_webhook_due_age_seconds", async (gauge) => {
    gauge.set({}, (await pool.query<{ age: number }>(oldestDue)).rows[0]?.age ?? 0);
  });
  metrics.gauge("signalbox_webhook_deliveries", async (gauge) => {
    const answer = await pool.query<{ enabled: boolean; deliveries: number; due: number }>(waiting);
    const rowOf = (enabled: boolean) => answer.rows.find((row) => row.enabled === enabled);
    gauge.set({ state: "pending" }, rowOf(true)?.deliveries ?? 0);
    gauge.set({ state: "due" }, rowOf(true)?.due ?? 0);
    gauge.set({ state: "held" }, rowOf(false)?.deliveries ?? 0);
  });
}
