import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { type EventName, topics } from "@signalbox/contracts";
import { hours, newId, randomId, uuidv7 } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { imageTopic, imageUpdated, parts } from "../../test/log-contract/log-under-test.ts";
import { openConsumerTest, testWorkers } from "../../test/log-contract/test-service.ts";
import { createDeadLetters } from "../dead-letters/dead-letters.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { EventLog, LogRecord } from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import type { BatchHandler, Handler } from "./consumer-table.ts";
import { createConsumer } from "./create-consumer.ts";

const insertEffects = sql(
  "test.effects",
  "insert into effect (key, title) select * from unnest($1::text[], $2::text[]) as given (key, title)",
);

describe("a consumer with a batch handler", () => {
  let service: Awaited<ReturnType<typeof openConsumerTest>>;
  let eventLog: EventLog;
  let workers: ReturnType<typeof testWorkers>;
  before(async () => {
    service = await openConsumerTest(topics);
    eventLog = service.eventLog;
  });
  after(() => service.close());
  beforeEach(() => {
    workers = testWorkers();
  });
  afterEach(() => workers.stop());

  /** Starts a consumer whose effects are rows; returns the number of events of each of its calls. */
  function start(failing: (title: string) => void = () => {}): number[] {
    const calls: number[] = [];
    const handle: BatchHandler = async (events, { tx }) => {
      const titles = events.map(({ data }) => (data as { title?: string }).title ?? "");
      for (const title of titles) failing(title);
      const keys = events.map(({ subject }) => subject);
      await tx.query(insertEffects, [keys, titles]);
      calls.push(events.length);
    };
    const single: Handler<EventName> = (event, context) => handle([event], context);
    const common = { service: "images", name: randomId("consumer"), eventLog, ...parts() } as const;
    createConsumer({
      ...common,
      deadLetters: createDeadLetters(common),
      pool: service.pool,
      inboxRetentionMs: hours(24),
      retryDelaysMs: Array.from({ length: 1_000 }, () => 100),
      table: { "image.updated": single as Handler<"image.updated"> },
      batchHandler: handle,
    }).start(workers);
    return calls;
  }
  function message(key: string, title: string, id = uuidv7()): LogRecord {
    const fields = { service: "images", id, time: new Date(), traceparent: undefined };
    return encodeEvent(imageUpdated(key, title), fields);
  }
  async function effectsOf(key: string): Promise<string[]> {
    const effects = sql("", "select title from effect where key = $1 order by seq");
    return (await service.pool.query<{ title: string }>(effects, [key])).rows.map(({ title }) => title);
  }

  test("hundreds of events take a few transactions, each key in order", async () => {
    const key = newId("img");
    const titles = Array.from({ length: 400 }, (_, index) => String(index));
    await eventLog.publish(titles.map((title) => message(key, title)));
    const calls = start();
    await eventually(async () => (await effectsOf(key)).length === titles.length);
    assert.deepEqual(await effectsOf(key), titles);
    assert.ok(calls.length < 20, `${calls.length} transactions`);
  });

  test("an event that is repeated, within a page or later, has one effect", async () => {
    const [key, id] = [newId("img"), uuidv7()];
    await eventLog.publish([message(key, "once", id), message(key, "once", id), message(key, "then")]);
    start();
    await eventually(async () => (await effectsOf(key)).includes("then"));
    await eventLog.publish([message(key, "once", id), message(key, "last")]);
    await eventually(async () => (await effectsOf(key)).includes("last"));
    assert.deepEqual(await effectsOf(key), ["once", "then", "last"]);
  });

  test("a failing event delays only its own key: all other events of its page have their effect once", async () => {
    const [bad, ...others] = Array.from({ length: 20 }, () => newId("img")) as [string, ...string[]];
    let isBroken = true;
    await eventLog.publish([
      ...others.slice(0, 10).map((key) => message(key, "good")),
      message(bad, "bad"),
      message(bad, "behind"),
      { ...message(bad, "unreadable"), value: Buffer.from("{") },
      ...others.slice(10).map((key) => message(key, "good")),
    ]);
    start((title) => {
      if (isBroken && title === "bad") throw new Error("not yet");
    });
    await eventually(async () => {
      for (const key of others) assert.deepEqual(await effectsOf(key), ["good"]);
    });
    assert.deepEqual(await effectsOf(bad), []);
    isBroken = false;
    await eventually(async () => assert.deepEqual(await effectsOf(bad), ["bad", "behind"]));
  });

  test("a page with parked keys takes one statement: other keys have their effect together, parked ones wait", async () => {
    const bad = newId("img");
    const other = inPartitionOf(bad);
    let isBroken = true;
    const calls = start((title) => {
      if (isBroken && title === "bad") throw new Error("not yet");
    });
    await eventLog.publish([message(bad, "bad")]);
    await eventually(async () => (await parkedOf(bad)).messages === 1);
    const titles = Array.from({ length: 100 }, (_, index) => String(index));
    await eventLog.publish(titles.flatMap((title) => [message(bad, title), message(other, title)]));
    await eventually(async () => (await parkedOf(bad)).messages === 101);
    await eventually(async () => (await effectsOf(other)).length === titles.length);
    assert.ok((await parkedOf(bad)).transactions <= 10, JSON.stringify(await parkedOf(bad)));
    assert.ok(calls.length <= 20, `${calls.length} calls`);
    isBroken = false;
    await eventually(async () => (await effectsOf(bad)).length === 101);
    assert.deepEqual(await effectsOf(bad), ["bad", ...titles]);
    assert.deepEqual(await effectsOf(other), titles);
  });

  /** Finds a key whose messages share a batch with those of this one. */
  function inPartitionOf(key: string): string {
    const { partitions } = topics.find(({ name }) => name === imageTopic) ?? { partitions: 1 };
    for (;;) {
      const other = newId("img");
      if (partitionOf(other, partitions) === partitionOf(key, partitions)) return other;
    }
  }
  async function parkedOf(key: string) {
    const statement = sql(
      "",
      `select count(*)::int as messages, count(distinct xmin::text)::int as transactions
       from signalbox.parked where key = $1`,
    );
    const { rows } = await service.pool.query<{ messages: number; transactions: number }>(statement, [key]);
    return rows[0] ?? { messages: 0, transactions: 0 };
  }
});
