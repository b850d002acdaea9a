import { hours, minutes, seconds } from "@signalbox/core";
import { createWakeUp, type Metrics } from "@signalbox/runtime";
import { keepStatistics } from "@signalbox/service";
import { type Pool, sql, startRetention } from "@signalbox/storage";
import type { DeliveryContext, DeliveryService } from "./context/delivery-service.ts";
import { openAdministrators, reviewEveryMs, reviewOperators } from "./endpoints/operators.ts";
import { removeNext } from "./endpoints/removals.ts";
import { reportPublications } from "./events/publication-counts.ts";
import { parkOverdue } from "./outcomes/order-holds.ts";
import { fillConsumer } from "./pull/consumers.ts";
import { expireLeases } from "./pull/end-leases.ts";
import { endListening } from "./pull/listening.ts";
import { runReplays } from "./replays/replays.ts";
import { ClaimLoop } from "./sending/claim-loop.ts";

/** Interval of take-overs. A delivery leased by a dead instance waits twice as long. */
const takeOverEveryMs = seconds(1.5);

/** Interval between saves of the counts for the audit, which a killed instance loses since the last one. */
const saveCountsEveryMs = seconds(5);

/** Interval between messages to live observers about published events. */
const announceEveryMs = seconds(0.5);

export function workers(context: DeliveryContext, service: DeliveryService, keepDays: () => Promise<void>): void {
  const { runner, clock } = context;
  const { pool, outbox, accessStates, wakeUp, announcements, publicationCounts, openLeases, statistics } = service;
  const claims = new ClaimLoop(service);
  runner.worker("deliveries", (signal, beat) => claims.run(signal, beat));
  runner.every("orphaned leases", takeOverEveryMs, () => claims.takeOver());
  runner.every("probes", seconds(2), () => claims.probe());
  runner.every("order holds", seconds(1), () => parkOverdue(service));
  runner.every("expired leases", seconds(0.5), () => expireLeases(service));
  runner.every("leases of streams", seconds(1), () => openLeases.look());
  runner.every("ends of listening", seconds(2), () => endListening(service));
  runner.every("starts of consumers", seconds(1), () => fillConsumer(service));
  runner.every("replays", seconds(1), () => runReplays(service));
  runner.every("day tables", hours(1), keepDays);
  runner.every("removals", seconds(1), () => removeNext(service));
  runner.defer("announced events", () => announcements.step());
  runner.every("announced events", announceEveryMs, () => announcements.step());
  runner.defer("publication counts", () => publicationCounts.save());
  runner.every("publication counts", saveCountsEveryMs, () => publicationCounts.save());
  runner.every("published hours", minutes(1), () => reportPublications(pool, outbox, clock));
  const administratorsAmong = openAdministrators(context);
  const reviews = createWakeUp(reviewEveryMs);
  runner.worker("operators", (signal, beat) => reviewOperators(service, administratorsAmong, reviews, signal, beat));
  // A role that was taken away is a change of access too.
  runner.defer("operator listener", accessStates.onChange(reviews.wake));
  // Deliveries held for an account never leave the queue, so that a wake-up is enough.
  runner.defer("access listener", accessStates.onChange(wakeUp.wake));
  keepStatistics({ runner, pool, clock }, statistics);
  const retentionMs = () => context.configuration.get("webhook-delivery.retention");
  // A key without events starts again at 1, once none of its deliveries is left.
  const orderMs = () => retentionMs() + hours(48);
  startRetention({ runner, pool, clock }, [
    { name: "trim ids of published events", table: "published_events", column: "created_at", keepMs: retentionMs },
    { name: "trim replays", table: "replays", column: "created_at", keepMs: retentionMs },
    { name: "trim keys of ordered endpoints", table: "delivery_order", column: "updated_at", keepMs: orderMs },
  ]);
  observeQueue(context.metrics, pool);
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

function observeQueue(metrics: Metrics, pool: Pool): void {
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
