import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { serviceWith, testPerson } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { giveSignOfLife } from "../src/reconciling/outages.ts";
import { newRun } from "../src/reconciling/reconcile-step.ts";
import type { Reconciliation } from "../src/reconciling/reconciliation.ts";
import {
  claimLease,
  openRequestedRun,
  openRun,
  releaseLease,
  startSchedule,
} from "../src/reconciling/reconciliation-store.ts";
import { startIngest } from "./harness.ts";

const plan = sql(
  "",
  "insert into reconciliation_schedules (source_id, due_at, trigger, covered_to) values ($1, $2, 'schedule', $2)",
);

/** Leases a source for its regular comparison. The time is far from that at which the workers look for what is due. */
async function leaseSource(context: TestContext) {
  const ingest = await startIngest();
  context.after(() => ingest.close());
  const { pool } = ingest;
  const source = await ingest.newSource(testPerson(), {
    scheme: "github",
    secret: "a secret of at least sixteen bytes",
  });
  const clock = createManualClock(new Date(Date.now() + hours(2)));
  const [now, later] = [clock.now(), new Date(clock.nowMs() + hours(1))];
  await pool.query(plan, [source.id, now]);
  const lease = (await claimLease(pool, "lease_first", now, later)) ?? assert.fail("the source is due");
  const runOf = (trigger: "request" | "schedule") =>
    newRun({ ...source, accountId: "acc" } as never, trigger, { fromAt: now, toAt: later, now });
  const run = runOf("schedule");
  return {
    pool,
    clock,
    run,
    open: () => inTransaction(pool, (tx) => openRun(tx, lease, run)),
    request: async () => {
      const requested = runOf("request");
      assert.equal(await inTransaction(pool, (tx) => openRequestedRun(tx, requested)), true);
      return requested;
    },
    setKey: () => inTransaction(pool, (tx) => startSchedule(tx, source.id, now, now)),
    /** Ends the lease, and the run if given, until the regular time, and leases what is due now. */
    leaseAgain: async (ended?: Reconciliation) => {
      const release = { dueAt: later };
      await releaseLease(pool, lease, now, ended ? { ...release, ended: { run: ended, coveredTo: later } } : release);
      return claimLease(pool, "lease_second", now, later);
    },
  };
}

test("an outage that is found while a source is leased for a regular comparison is compared at once", async (context) => {
  const { pool, clock, open, leaseAgain } = await leaseSource(context);
  await giveSignOfLife(serviceWith<IngestService>({ pool, clock, log: { warn: () => {} } }));
  assert.equal(await open(), false, "the lease is outdated");
  const next = await leaseAgain();
  assert.deepEqual([next?.trigger, next?.runId], ["outage", null]);
  assert.ok(next?.outageId);
});

test("a comparison that is requested while a source is leased for a regular one begins at once", async (context) => {
  const { open, request, leaseAgain } = await leaseSource(context);
  const run = await request();
  assert.equal(await open(), false, "another run is under way");
  assert.equal((await leaseAgain())?.runId, run.id);
});

test("a comparison follows at once when a new key is set during the last step of a run", async (context) => {
  const { run, open, setKey, leaseAgain } = await leaseSource(context);
  assert.equal(await open(), true);
  await setKey();
  const next = await leaseAgain({ ...run, status: "failed", reason: "key_unauthorized", finishedAt: run.createdAt });
  assert.deepEqual([next?.trigger, next?.runId], ["schedule", null]);
});
