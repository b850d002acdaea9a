import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { deadLetterTopic, topics } from "@signalbox/contracts";
import { hours, newId, randomId, uuidv7 } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { createTcpProxy, eventually } from "@signalbox/testing";
import { imageTopic, imageUpdated, parts, record } from "../../test/log-contract/log-under-test.ts";
import { openConsumerTest, openTestPool, testWorkers } from "../../test/log-contract/test-service.ts";
import * as deadLetters from "../dead-letters/dead-letters.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { EventLog, LogRecord, ReceivedRecord } from "../log/event-log.ts";
import type { ConsumerTable, StatelessTable } from "./consumer-table.ts";
import { createConsumer, type TransactionalConsumerOptions } from "./create-consumer.ts";

const insertEffect = sql("test.effect", "insert into effect (key, title) values ($1, $2)");

describe("a consumer", () => {
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

  /** Starts a consumer that reads events published from now on. */
  async function start(options: Partial<TransactionalConsumerOptions> & { table: ConsumerTable }): Promise<string> {
    const name = randomId("consumer");
    const common = { service: "images", name, eventLog, ...parts() } as const;
    const own = deadLetters.createDeadLetters(common);
    const delays = { retryDelaysMs: [50, 100, 150], inboxRetentionMs: hours(24) };
    const all = { ...common, ...delays, deadLetters: own, pool: service.pool, ...options };
    const consumer = createConsumer(all as TransactionalConsumerOptions);
    consumer.start(workers);
    return `images.${name}`;
  }
  const table = (failing: (title: string) => void = () => {}): ConsumerTable => ({
    async "image.updated"(event, { tx }) {
      failing(event.data.title ?? "");
      await tx.query(insertEffect, [event.subject, event.data.title]);
    },
  });
  function message(key: string, title: string, id = uuidv7()): LogRecord {
    const event = encodeEvent(imageUpdated(key, title), {
      service: "images",
      id,
      time: new Date(),
      traceparent: undefined,
    });
    return { ...event };
  }
  async function effectsOf(key: string): Promise<string[]> {
    const { rows } = await service.pool.query<{ title: string }>(
      sql("", "select title from effect where key = $1 order by seq"),
      [key],
    );
    return rows.map(({ title }) => title);
  }
  const deadOf = async (consumer: string) =>
    (await deadLetters.list(eventLog, "images")).filter((letter) => letter.consumer === consumer);

  test("a repeated event has no second effect", async () => {
    const [key, id] = [newId("img"), uuidv7()];
    await start({ table: table() });
    await eventLog.publish([message(key, "once", id), message(key, "once", id), message(key, "then")]);
    await eventually(async () => (await effectsOf(key)).includes("then"));
    assert.deepEqual(await effectsOf(key), ["once", "then"]);
  });

  test("a failing message parks only its own key, whose messages stay in order", async () => {
    const [key, other] = [newId("img"), newId("img")];
    let isBroken = true;
    await start({
      table: table((title) => {
        if (isBroken && title === "1") throw new Error("not yet");
      }),
      // More tries than the test needs: the message is never given up.
      retryDelaysMs: Array.from({ length: 1_000 }, () => 100),
    });
    await eventLog.publish([message(key, "1"), message(key, "2"), message(other, "a"), message(key, "3")]);
    await eventually(async () => (await effectsOf(other)).length === 1);
    assert.deepEqual(await effectsOf(key), []);
    isBroken = false;
    await eventually(async () => (await effectsOf(key)).length === 3);
    await eventLog.publish([message(key, "4")]);
    await eventually(async () => (await effectsOf(key)).length === 4);
    assert.deepEqual(await effectsOf(key), ["1", "2", "3", "4"]);
  });

  test("a message that keeps failing becomes a dead letter without blocking its key", async () => {
    const key = newId("img");
    let isBroken = true;
    const consumer = await start({
      table: table((title) => {
        if (isBroken && title === "bad") throw new Error("cannot do this");
      }),
    });
    const bad = message(key, "bad");
    await eventLog.publish([bad, message(key, "good")]);
    await eventually(async () => (await effectsOf(key)).length === 1);
    assert.deepEqual(await effectsOf(key), ["good"]);
    const [letter] = await deadOf(consumer);
    assert.match(letter?.reason ?? "", /cannot do this/);
    assert.deepEqual([letter?.attempts, letter?.origin.topic, letter?.origin.key], [4, imageTopic, key]);
    assert.equal(letter?.headers.ce_id, bad.headers.ce_id);

    isBroken = false;
    const whole = letter && (await deadLetters.find(eventLog, "images", letter.id));
    if (whole) await eventLog.publish([deadLetters.replayRecord(whole), deadLetters.droppedLetter("images", whole.id)]);
    await eventually(async () => (await effectsOf(key)).length === 2);
    assert.deepEqual(await effectsOf(key), ["good", "bad"]);
    assert.deepEqual(await deadOf(consumer), []);
  });

  test("a replayed message is handled only by the consumer that gave it up", async () => {
    const key = newId("img");
    await start({ table: table() });
    await eventLog.publish([
      {
        ...message(key, "not mine"),
        headers: { ...message(key, "x").headers, "signalbox-replay-for": "images.another" },
      },
    ]);
    await eventLog.publish([message(key, "mine")]);
    await eventually(async () => (await effectsOf(key)).length === 1);
    assert.deepEqual(await effectsOf(key), ["mine"]);
  });

  test("unreadable messages become dead letters at once without blocking their partition", async () => {
    const key = newId("img");
    const consumer = await start({ table: table() });
    const fine = message(key, "fine");
    await eventLog.publish([
      record(imageTopic, key, "no envelope"),
      { ...fine, value: Buffer.from([0xff, 0x00]) },
      { ...fine, value: Buffer.from("{}") },
      { ...fine, headers: { ...fine.headers, ce_id: "7" } },
      fine,
    ]);
    await eventually(async () => (await effectsOf(key)).length === 1);
    const letters = await eventually(async () => {
      const found = (await deadOf(consumer)).filter(({ origin }) => origin.key === key);
      return found.length === 4 && found;
    });
    assert.ok(letters.every(({ attempts }) => attempts === 1));
  });

  test("a batch that the log could not read is a dead letter with the log's reason", async () => {
    const key = newId("img");
    const reason = "the batch cannot be decoded";
    const mark = (one: ReceivedRecord) => (one.key === key ? { ...one, unreadable: reason } : one);
    const subscribe: EventLog["subscribe"] = ({ handle, ...options }) =>
      eventLog.subscribe({ ...options, handle: (batch) => handle({ ...batch, records: batch.records.map(mark) }) });
    const consumer = await start({ table: table(), eventLog: { ...eventLog, subscribe } });
    await eventLog.publish([message(key, "unreadable")]);
    const isMine = ({ origin }: { origin: { key: string } }) => origin.key === key;
    const letter = await eventually(async () => (await deadOf(consumer)).find(isMine) ?? false);
    assert.equal(letter.reason, reason);
    assert.deepEqual(await effectsOf(key), []);
  });

  test("a message with NUL characters or lone surrogates is handled or parked like others", async () => {
    const key = newId("img");
    let failures = 0;
    await start({
      table: {
        async "image.updated"(event, { tx }) {
          if (failures++ === 0) throw new Error(`cannot handle ${event.data.title}`);
          await tx.query(insertEffect, [event.subject, event.data.title?.length]);
        },
      },
    });
    await eventLog.publish([message(key, "\u0000\ud800")]);
    await eventually(async () => (await effectsOf(key)).length === 1);
    assert.deepEqual(await effectsOf(key), ["2"]);
  });

  test("a message whose key PostgreSQL cannot store becomes a dead letter without blocking its partition", async () => {
    const key = newId("img");
    const consumer = await start({
      table: table((title) => {
        if (title === "long") throw new Error("cannot do this");
      }),
    });
    // Random, because an index compresses repeated text.
    const longKey = Array.from({ length: 400 }, () => randomId("key")).join();
    await eventLog.publish([
      { ...message(key, "nul"), key: `${key}\0` },
      { ...message(key, "long"), key: longKey },
    ]);
    // Enough keys to reach every partition.
    const behind = Array.from({ length: 100 }, () => newId("img"));
    await eventLog.publish(behind.map((other) => message(other, "fine")));
    const letters = await eventually(async () => {
      const found = (await deadOf(consumer)).filter(({ origin }) => [`${key}\0`, longKey].includes(origin.key));
      return found.length === 2 && found;
    });
    assert.ok(letters.some(({ reason }) => /cannot do this/.test(reason)));
    for (const other of behind) await eventually(async () => (await effectsOf(other)).length === 1);
  });

  test("a consumer waits while its database is away; nothing is lost, parked or repeated", async (context) => {
    const proxy = await createTcpProxy({ port: Number(new URL(service.database.url).port) });
    const pool = openTestPool(proxy.urlFor(service.database.url));
    context.after(async () => {
      await workers.stop();
      await pool.close();
      await proxy.close();
    });
    const key = newId("img");
    const consumer = await start({ table: table(), pool });
    await eventLog.publish([message(key, "before")]);
    await eventually(async () => (await effectsOf(key)).length === 1);

    await proxy.refuse();
    await eventLog.publish([message(key, "during 1"), message(key, "during 2")]);
    await eventually(async () => (await pool.health()) !== null);
    await proxy.accept();
    await eventually(async () => (await effectsOf(key)).length === 3);
    assert.deepEqual(await effectsOf(key), ["before", "during 1", "during 2"]);
    const parked = sql("", "select reason from signalbox.parked where consumer = $1 and key = $2");
    assert.deepEqual((await service.pool.query(parked, [consumer, key])).rows, []);
  });

  test("a consumer without a database retries in place a few times, then gives the message up", async () => {
    const key = newId("img");
    const tries: number[] = [];
    const stateless: StatelessTable = {
      async "image.updated"(event, { attempt }) {
        if (event.subject !== key || event.data.title !== "bad") return;
        tries.push(attempt);
        if (attempt < 3) throw new Error("not yet");
      },
    };
    await start({ table: stateless, pool: null } as never);
    await eventLog.publish([message(key, "bad")]);
    await eventually(() => tries.length === 3);
    assert.deepEqual(tries, [1, 2, 3]);
  });

  test("the work on a message continues the trace of its event, also after it was parked", async () => {
    const { tracer } = parts();
    const key = newId("img");
    const traces: (string | undefined)[] = [];
    await start({
      tracer,
      table: {
        async "image.updated"(event) {
          if (event.subject !== key) return;
          traces.push(tracer.traceId());
          if (traces.length === 1) throw new Error("once more");
        },
      },
    });
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const sent = message(key, "traced");
    const headers = { ...sent.headers, ce_traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    await eventLog.publish([{ ...sent, headers }]);
    await eventually(() => traces.length === 2);
    assert.deepEqual(traces, [traceId, traceId]);
  });

  test("dead letters have a topic per service", () => {
    assert.ok(topics.some(({ name }) => name === deadLetterTopic("images")));
  });
});
