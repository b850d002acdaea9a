import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deadLetterTopic } from "@signalbox/contracts";
import { hours, newId, randomId, uuidv7 } from "@signalbox/core";
import { inTransaction, sql, type Tx } from "@signalbox/storage";
import { eventually, type TestDatabase, testDatabase } from "@signalbox/testing";
import { imageUpdated } from "../contract/image-event.ts";
import { openLog, parts, topicSpec } from "../contract/log-under-test.ts";
import { openTestService, type TestService, testWorkers } from "../contract/test-service.ts";
import { createDeadLetters } from "../dead-letters/dead-letters.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { EventLog } from "../event-log.ts";
import { createConsumer } from "./create-consumer.ts";
import { enterInbox } from "./inbox.ts";
import { dueMessages, isAnyDue, removeParked } from "./parked-messages.ts";

const insertEffect = sql("test.effect", "insert into effect (key, title) values ($1, $2)");
const readEffects = sql("", "select title from effect where key = $1 order by seq");
const countParked = sql("", "select count(*)::int as rows from signalbox.parked where consumer = $1");
/** What was read of the table, by index or without, on this connection since its counters were last flushed. */
const countReads = sql(
  "",
  `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
   from pg_stat_xact_user_tables where relname = 'parked'`,
);
/** `rows` messages of `keys` keys, as they stand behind one another, the first of each due after `delay` seconds. */
const fill = sql(
  "",
  `insert into signalbox.parked (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, next_at, reason)
   select $1, $2 || number % $4::int, $2, 0, number, 0, '{}', '\\x00',
     case when number < $4::int then clock_timestamp() + $5 * interval '1 s' else 'infinity' end, 'test'
   from generate_series(0, $3::int - 1) as number`,
);

describe("parked messages", () => {
  let logDatabase: TestDatabase;
  let service: TestService;
  let eventLog: EventLog;
  before(async () => {
    logDatabase = await testDatabase();
    service = await openTestService();
    await service.pool.query(sql("", "create table effect (seq serial, key text, title text)"));
    eventLog = await openLog(logDatabase.url);
    await eventLog.ensureTopics([topicSpec(deadLetterTopic("images"))]);
  });
  after(async () => {
    await eventLog.close();
    await service.close();
    await logDatabase.close();
  });

  const depth = async (consumer: string) =>
    (await service.pool.query<{ rows: number }>(countParked, [consumer])).rows[0]?.rows;
  async function readsOf(work: (tx: Tx) => Promise<void>, { pool } = service): Promise<number> {
    return inTransaction(pool, async (tx) => {
      const count = async () => (await tx.query<{ rows: number }>(countReads)).rows[0]?.rows ?? 0;
      const before = await count();
      await work(tx);
      return (await count()) - before;
    });
  }

  test("taking the next messages of a key reads no more than them, whatever waits behind or beside them", async () => {
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

  test("a message of another key does not read the queues, also by a plan that was made while there were none", async (context) => {
    const empty = await openTestService();
    context.after(() => empty.close());
    const enter = (tx: Tx) => enterInbox(tx, "consumer", newId("img"), uuidv7());
    await empty.pool.query(sql("", "vacuum signalbox.parked"));
    for (let count = 0; count < 10; count++) await inTransaction(empty.pool, enter);
    await empty.pool.query(fill, ["consumer", "deep-", 20_000, 1, 0]);
    const reads = await readsOf(async (tx) => assert.equal(await enter(tx), "new"), empty);
    assert.equal(reads, 0);
  });

  test("a queue that messages join while it drains is emptied in order, and none is left behind without a time", async (context) => {
    const [first, second] = [testWorkers(), testWorkers()];
    context.after(() => Promise.all([first.stop(), second.stop()]));
    const [key, topic, name] = [newId("img"), randomId("topic"), randomId("consumer")];
    await eventLog.ensureTopics([topicSpec(topic)]);
    const failing = new Set(["0", "70", "71", "400", "900"]); // each once
    const common = { service: "images", name, eventLog, ...parts() } as const;
    for (const workers of [first, second]) {
      const consumer = createConsumer({
        ...common,
        ...parts(),
        deadLetters: createDeadLetters({ ...common, ...parts() }),
        pool: service.pool,
        inboxRetentionMs: hours(24),
        retryDelaysMs: [50, 50, 50],
        topics: [topic],
        table: {
          async "image.updated"(event, { tx }) {
            if (failing.delete(event.data.title ?? "")) throw new Error("not yet");
            await tx.query(insertEffect, [event.subject, event.data.title]);
          },
        },
      });
      consumer.start(workers);
    }
    const titles = Array.from({ length: 1_500 }, (_, index) => String(index));
    for (let from = 0; from < titles.length; from += 25) {
      await eventLog.publish(titles.slice(from, from + 25).map((title) => message(topic, key, title)));
    }
    const effects = await eventually(
      async () => {
        const { rows } = await service.pool.query<{ title: string }>(readEffects, [key]);
        return rows.length >= titles.length && rows.map(({ title }) => title);
      },
      { timeoutMs: 60_000 },
    );
    assert.deepEqual(effects, titles);
    assert.equal(failing.size, 0);
    assert.equal(await depth(`images.${name}`), 0);
  });
});

function message(topic: string, key: string, title: string) {
  const fields = { service: "images", id: uuidv7(), time: new Date(), traceparent: undefined } as const;
  return { ...encodeEvent(imageUpdated(key, title), fields), topic };
}
