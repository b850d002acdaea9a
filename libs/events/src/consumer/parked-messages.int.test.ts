import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deadLetterTopic } from "@signalbox/contracts";
import { hours, newId, randomId, uuidv7 } from "@signalbox/core";
import { inTransaction, sql, type Tx } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { imageUpdated, parts, topicSpec } from "../../test/log-contract/log-under-test.ts";
import {
  openConsumerTest,
  openTestService,
  type TestService,
  testWorkers,
} from "../../test/log-contract/test-service.ts";
import { createDeadLetters } from "../dead-letters/dead-letters.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { EventLog, ReceivedRecord } from "../log/event-log.ts";
import { createConsumer } from "./create-consumer.ts";
import { enterInbox } from "./inbox.ts";
import * as parkedKeys from "./parked-keys.ts";
import { dueMessages, isAnyDue, parkBehind, parkMessage, removeParked } from "./parked-messages.ts";

const insertEffect = sql("test.effect", "insert into effect (key, title) values ($1, $2)");
const readEffects = sql("", "select title from effect where key = $1 order by seq");
const countParked = sql("", "select count(*)::int as rows from signalbox.parked where consumer = $1");
/** Rows of the table read on this connection, by index or without, since its counters were last flushed. */
const countReads = sql(
  "",
  `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
   from pg_stat_xact_user_tables where relname = 'parked'`,
);
/** Inserts `rows` messages of `keys` keys in queues; the first of each is due after `delay` seconds. */
const fill = sql(
  "",
  `insert into signalbox.parked (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, next_at, reason)
   select $1, $2 || number % $4::int, $2, 0, number, 0, '{}', '\\x00',
     case when number < $4::int then clock_timestamp() + $5 * interval '1 s' else 'infinity' end, 'test'
   from generate_series(0, $3::int - 1) as number`,
);

describe("parked messages", () => {
  let service: Awaited<ReturnType<typeof openConsumerTest>>;
  let eventLog: EventLog;
  before(async () => {
    service = await openConsumerTest([topicSpec(deadLetterTopic("images"))]);
    eventLog = service.eventLog;
  });
  after(() => service.close());

  const depth = async (consumer: string) =>
    (await service.pool.query<{ rows: number }>(countParked, [consumer])).rows[0]?.rows;
  const effectsOf = async (key: string) =>
    (await service.pool.query<{ title: string }>(readEffects, [key])).rows.map(({ title }) => title);
  /** Starts a consumer of the topic whose effects are rows, unless `before` throws for their title. */
  const consumerOf = (name: string, topic: string, before: (title: string) => void) => {
    const common = { service: "images", name, eventLog, ...parts() } as const;
    return (workers: ReturnType<typeof testWorkers>) =>
      createConsumer({
        ...common,
        deadLetters: createDeadLetters(common),
        pool: service.pool,
        inboxRetentionMs: hours(24),
        retryDelaysMs: Array.from({ length: 1_000 }, () => 50),
        topics: [topic],
        table: {
          async "image.updated"(event, { tx }) {
            before(event.data.title ?? "");
            await tx.query(insertEffect, [event.subject, event.data.title]);
          },
        },
      }).start(workers);
  };
  async function readsOf(
    work: (tx: Tx) => Promise<void>,
    { pool }: Pick<TestService, "pool"> = service,
  ): Promise<number> {
    return inTransaction(pool, async (tx) => {
      const count = async () => (await tx.query<{ rows: number }>(countReads)).rows[0]?.rows ?? 0;
      const before = await count();
      await work(tx);
      return (await count()) - before;
    });
  }

  test("taking the next messages of a key reads only them, however many wait behind or beside them", async () => {
    const consumer = randomId("consumer");
    await service.pool.query(fill, [consumer, "later-", 50_000, 50_000, 3_600]);
    await service.pool.query(fill, [consumer, "deep-", 50_000, 1, 0]);
    assert.equal(await isAnyDue(service.pool, consumer), true);
    for (const turn of [0, 1, 2]) {
      const reads = await readsOf(async (tx) => {
        const messages = await dueMessages(tx, consumer, 40);
        assert.deepEqual(
          messages.map(({ record }) => [record.key, Number(record.offset)]),
          Array.from({ length: 40 }, (_, index) => ["deep-0", turn * 40 + index]),
        );
        await removeParked(tx, consumer, messages);
      });
      // Twice the messages, to read and to remove them, and twice a head.
      assert.ok(reads >= 80 && reads <= 100, `${reads} rows`);
    }
  });

  test("a message of another key does not read the queues, even by a plan made while they were empty", async (context) => {
    const empty = await openTestService();
    context.after(() => empty.close());
    const enter = (tx: Tx) => enterInbox(tx, "consumer", newId("img"), uuidv7());
    await empty.pool.query(sql("", "vacuum signalbox.parked"));
    for (let count = 0; count < 10; count++) await inTransaction(empty.pool, enter);
    await empty.pool.query(fill, ["consumer", "deep-", 20_000, 1, 0]);
    const reads = await readsOf(async (tx) => assert.equal(await enter(tx), "new"), empty);
    assert.equal(reads, 0);
  });

  test("the id and the account of an event find every consumer that has parked it", async () => {
    const [first, second, eventId] = [randomId("consumer"), randomId("consumer"), uuidv7()];
    const parking = { attempt: 2, delayMs: 60_000, reason: "test" };
    const recordOf = (offset: bigint, id: string, accountId: string): ReceivedRecord => ({
      topic: "topic",
      partition: 0,
      offset,
      timestampMs: 0,
      key: "img_1",
      value: Buffer.from("{}"),
      // A header of another sender that quotes the id is not the event.
      headers: { ce_id: id, ce_accountid: accountId, note: `"ce_id":"${eventId}"` },
    });
    await inTransaction(service.pool, async (tx) => {
      await parkMessage(tx, first, recordOf(0n, uuidv7(), "acc_1"), parking);
      await parkMessage(tx, first, recordOf(1n, eventId, "acc_1"), { ...parking, attempt: 0 });
      await parkMessage(tx, second, recordOf(1n, eventId, "acc_1"), parking);
    });
    const found = await parkedKeys.findEvent(service.pool, "acc_1", eventId);
    assert.deepEqual(
      found.map(({ consumer, attempt, nextAt }) => [consumer, attempt, nextAt === null]),
      [
        [first, 0, true],
        [second, 2, false],
      ],
    );
    assert.deepEqual(await parkedKeys.findEvent(service.pool, "acc_2", eventId), []);
  });

  test("messages join the existing queue of their key in order, in one statement", async () => {
    const [consumer, parkedKey, free] = [randomId("consumer"), newId("img"), newId("img")];
    const recordOf = (key: string, offset: number): ReceivedRecord => ({
      topic: "topic",
      partition: 0,
      offset: BigInt(offset),
      timestampMs: 0,
      key,
      headers: { ce_id: String(offset) },
      value: offset % 2 ? null : Buffer.from([0, offset]),
    });
    await inTransaction(service.pool, (tx) =>
      parkMessage(tx, consumer, recordOf(parkedKey, 0), { attempt: 1, delayMs: 0, reason: "test" }),
    );
    const records = [3, 1, 2, 4].flatMap((offset) => [recordOf(parkedKey, offset), recordOf(free, offset + 10)]);
    for (const _time of ["first", "when they come again"]) {
      const keys = await inTransaction(service.pool, (tx) => parkBehind(tx, consumer, records));
      assert.deepEqual([...keys], [parkedKey]);
    }
    await inTransaction(service.pool, async (tx) => {
      const messages = await dueMessages(tx, consumer, 10);
      const behind = [3, 1, 2, 4].map((offset) => recordOf(parkedKey, offset));
      assert.deepEqual(
        messages.map(({ record }) => record),
        [recordOf(parkedKey, 0), ...behind],
      );
      await removeParked(tx, consumer, messages);
    });
    assert.equal(await depth(consumer), 0);
  });

  test("messages of a parked key are parked as a batch, then handled in order", async (context) => {
    const workers = testWorkers();
    context.after(() => workers.stop());
    const [key, topic, name] = [newId("img"), randomId("topic"), randomId("consumer")];
    await eventLog.ensureTopics([topicSpec(topic)]);
    let isBroken = true;
    const start = consumerOf(name, topic, () => {
      if (isBroken) throw new Error("not yet");
    });
    start(workers);
    await eventLog.publish([message(topic, key, "0")]);
    await eventually(async () => (await depth(`images.${name}`)) === 1);
    const titles = Array.from({ length: 1_000 }, (_, index) => String(index + 1));
    await eventLog.publish(titles.map((title) => message(topic, key, title)));
    await eventually(async () => (await depth(`images.${name}`)) === 1_001);
    const transactions = sql(
      "",
      "select count(distinct xmin::text)::int as rows from signalbox.parked where consumer = $1 and attempt = 0",
    );
    const [row] = (await service.pool.query<{ rows: number }>(transactions, [`images.${name}`])).rows;
    // Two to a batch: the first message finds its key parked, and the rest follows it.
    assert.ok((row?.rows ?? 1_000) <= 20, `${row?.rows} transactions`);
    isBroken = false;
    await eventually(async () => (await effectsOf(key)).length === 1_001, { timeoutMs: 60_000 });
    assert.deepEqual(await effectsOf(key), ["0", ...titles]);
  });

  test("an interrupted drain handles each message once, the rest later", async () => {
    const [workers, others] = [testWorkers(), testWorkers()];
    const [key, topic, name] = [newId("img"), randomId("topic"), randomId("consumer")];
    await eventLog.ensureTopics([topicSpec(topic)]);
    let failures = 1;
    let stopped: Promise<void> | undefined;
    consumerOf(name, topic, (title) => {
      if (title === "0" && failures-- > 0) throw new Error("not yet");
      if (title === "2") stopped ??= workers.stop();
    })(workers);
    await eventLog.publish(["0", "1", "2", "3", "4"].map((title) => message(topic, key, title)));
    await eventually(() => stopped !== undefined);
    await stopped;
    assert.deepEqual(await effectsOf(key), ["0", "1", "2"]);
    consumerOf(name, topic, () => {})(others);
    await eventually(async () => (await effectsOf(key)).length === 5);
    assert.deepEqual(await effectsOf(key), ["0", "1", "2", "3", "4"]);
    await others.stop();
  });

  test("a queue that grows while it drains is emptied in order", async (context) => {
    const [first, second] = [testWorkers(), testWorkers()];
    context.after(() => Promise.all([first.stop(), second.stop()]));
    const [key, topic, name] = [newId("img"), randomId("topic"), randomId("consumer")];
    await eventLog.ensureTopics([topicSpec(topic)]);
    const failing = new Set(["0", "70", "71", "400", "900"]); // each once
    const start = consumerOf(name, topic, (title) => {
      if (failing.delete(title)) throw new Error("not yet");
    });
    for (const workers of [first, second]) start(workers);
    const titles = Array.from({ length: 1_500 }, (_, index) => String(index));
    for (let from = 0; from < titles.length; from += 25) {
      await eventLog.publish(titles.slice(from, from + 25).map((title) => message(topic, key, title)));
    }
    await eventually(async () => (await effectsOf(key)).length >= titles.length, { timeoutMs: 60_000 });
    assert.deepEqual(await effectsOf(key), titles);
    assert.equal(failing.size, 0);
    assert.equal(await depth(`images.${name}`), 0);
  });
});

function message(topic: string, key: string, title: string) {
  const fields = { service: "images", id: uuidv7(), time: new Date(), traceparent: undefined } as const;
  return { ...encodeEvent(imageUpdated(key, title), fields), topic };
}
