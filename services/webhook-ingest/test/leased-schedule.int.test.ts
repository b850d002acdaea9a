import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { testPerson } from "@signalbox/testing";
import { createOutages } from "../src/reconciling/outages.ts";
import { newRun } from "../src/reconciling/reconcile-step.ts";
import { createReconciliationStore } from "../src/reconciling/reconciliation-store.ts";
import { startIngest } from "./harness.ts";

test("an outage that is found while a source is leased for a regular comparison is compared at once", async (context) => {
  const ingest = await startIngest();
  context.after(() => ingest.close());
  const { pool } = ingest;
  const source = await ingest.newSource(testPerson(), {
    scheme: "github",
    secret: "a secret of at least sixteen bytes",
  });
  // Far from the time at which the workers look for what is due.
  const clock = createManualClock(new Date(Date.now() + hours(2)));
  const [now, later] = [clock.now(), new Date(clock.nowMs() + hours(1))];
  const plan =
    "insert into reconciliation_schedules (source_id, due_at, trigger, covered_to) values ($1, $2, 'schedule', $2)";
  await pool.query(sql("", plan), [source.id, now]);
  const store = createReconciliationStore(pool);
  const lease = (await store.claim("lease_first", now, later)) ?? assert.fail("the source is due");
  await createOutages({ pool, clock, log: { warn: () => {} } }).beat();

  const run = newRun({ ...source, accountId: "acc" } as never, lease.trigger, { fromAt: now, toAt: later, now });
  assert.equal(await inTransaction(pool, (tx) => store.open(tx, lease, run)), false, "the lease is outdated");
  await store.release(lease, now, { dueAt: later });
  const next = await store.claim("lease_second", now, later);
  assert.deepEqual([next?.trigger, next?.runId], ["outage", null]);
  assert.ok(next?.outageId);
});
