import assert from "node:assert/strict";
import { test } from "node:test";
import { canaryAccountId, draft, type EventDraft } from "@signalbox/contracts";
import { createMovableClock, minutes } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import { eventLogDatabase, eventually, testContext, testEventLog } from "@signalbox/testing";
import { openStates } from "../open-access.ts";
import { openOverrides } from "../overrides/open-overrides.ts";
import { observeConfigCanary } from "./canary-age.ts";

/** Starts an instance that reads both state topics, on a clock that is moved by hand. */
async function setUp() {
  const events = await eventLogDatabase();
  const clock = createMovableClock();
  const context = testContext("images", {}, {}, { clock });
  const eventLog = await testEventLog(events.url, context);
  const copy = { read: async () => null, write: async () => {} };
  const overrides = await openOverrides(context, eventLog, { copy, waitMs: minutes(1) });
  observeConfigCanary(context, overrides);
  await openStates(context, eventLog);
  return {
    clock,
    publish: (event: EventDraft) => publishEvents({ ...context, eventLog }, [event]),
    async ageOf(topic: "access" | "config"): Promise<number> {
      const series = `signalbox_${topic}_canary_age_seconds{`;
      const line = (await context.metrics.text()).split("\n").find((one) => one.startsWith(series));
      return Number(line?.split(" ")[1] ?? Number.NaN);
    },
    async close() {
      await context.close();
      await events.close();
    },
  };
}

test("an instance that reads no canary of the overrides grows old, until one arrives", async () => {
  const { clock, publish, ageOf, close } = await setUp();
  try {
    clock.advance(minutes(10));
    assert.ok((await ageOf("config")) >= 600);
    const changed_at = clock.now().toISOString();
    await publish(draft("config.canary_changed", { subject: "canary", accountId: null, data: { changed_at } }));
    await eventually(async () => (await ageOf("config")) < 60);
  } finally {
    await close();
  }
});

test("an instance that applies no canary of the access states grows old, until one arrives", async () => {
  const { clock, publish, ageOf, close } = await setUp();
  try {
    clock.advance(minutes(10));
    assert.ok((await ageOf("access")) >= 600);
    const [id, epoch, changed_at] = [canaryAccountId, clock.nowMs(), clock.now().toISOString()];
    const data = { kind: "account", id, account_id: id, state: "active", epoch, changed_at } as const;
    await publish(draft("access.changed", { subject: `account:${id}`, accountId: id, data }));
    await eventually(async () => (await ageOf("access")) < 60);
  } finally {
    await close();
  }
});

test("a canary from the future is not young", async () => {
  const { clock, publish, ageOf, close } = await setUp();
  try {
    const changed_at = new Date(clock.nowMs() + minutes(120)).toISOString();
    await publish(draft("config.canary_changed", { subject: "canary", accountId: null, data: { changed_at } }));
    await eventually(async () => (await ageOf("config")) > 7_000);
  } finally {
    await close();
  }
});
