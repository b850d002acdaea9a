import assert from "node:assert/strict";
import { test } from "node:test";
import { draft } from "@signalbox/contracts";
import { createMovableClock, minutes } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { defineProperties } from "@signalbox/runtime";
import { openPool, sql } from "@signalbox/storage";
import { eventLogDatabase, eventually, serviceDatabase, testContext, testEventLog } from "@signalbox/testing";
import { canaryProperties } from "../common-properties.ts";
import { startCanary } from "./start-canary.ts";

const countWaiting = sql("canary-tests.waiting", "select count(*)::int as count from signalbox.outbox");
const properties = defineProperties(canaryProperties);
const changes = (at: Date) => [
  draft("config.canary_changed", { subject: "canary", accountId: null, data: { changed_at: at.toISOString() } }),
];

/** Starts a canary whose outbox has no relay yet, on a clock that is moved by hand. */
async function setUp({ enabled = true, aheadMs = 0 } = {}) {
  const [database, events] = await Promise.all([serviceDatabase("config"), eventLogDatabase()]);
  const clock = createMovableClock();
  clock.advance(aheadMs);
  const context = testContext("config", properties, { "canary.enabled": enabled }, { clock });
  const pool = openPool({ ...context, url: database.url, max: 4, applicationName: "canary-tests" });
  const outbox = createOutbox({ ...context, pool, maxBytes: 100_000 });
  startCanary(context, { pool, outbox }, changes);
  const waiting = async () => (await pool.query<{ count: number }>(countWaiting)).rows[0]?.count;
  return {
    context,
    clock,
    waiting,
    async ageOf(stage: string): Promise<number | undefined> {
      const series = `signalbox_canary_age_seconds{stage="${stage}",`;
      const line = (await context.metrics.text()).split("\n").find((one) => one.startsWith(series));
      return line === undefined ? undefined : Number(line.split(" ")[1]);
    },
    async relay() {
      const eventLog = await testEventLog(events.url, context);
      context.runner.worker("outbox relay", (signal, beat) => outbox.runRelay(eventLog, signal, beat));
      await eventually(async () => (await waiting()) === 0);
    },
    async close() {
      await context.close();
      await Promise.all([database.close(), events.close()]);
    },
  };
}

test("a canary that no relay takes grows old at that stage", async () => {
  // To this clock, what the database has written is ten minutes old.
  const { waiting, ageOf, relay, close } = await setUp({ aheadMs: minutes(10) });
  try {
    await eventually(async () => (await waiting()) === 1);
    assert.ok(Number(await ageOf("written")) < 60);
    assert.ok(Number(await ageOf("relayed")) >= 600);
    await relay();
    assert.ok(Number(await ageOf("relayed")) < 60);
  } finally {
    await close();
  }
});

test("a canary that is not written again grows old at the first stage", async () => {
  const { clock, waiting, ageOf, close } = await setUp();
  try {
    await eventually(async () => (await waiting()) === 1);
    clock.advance(minutes(10));
    assert.ok(Number(await ageOf("written")) >= 600);
  } finally {
    await close();
  }
});

test("a canary that is switched off writes nothing", async () => {
  const { context, ageOf, close } = await setUp({ enabled: false });
  try {
    assert.deepEqual(context.workers(), []);
    assert.equal(await ageOf("written"), undefined);
  } finally {
    await close();
  }
});
