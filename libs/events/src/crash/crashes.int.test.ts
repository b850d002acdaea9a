import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deadLetterTopic } from "@signalbox/contracts";
import { randomId, systemClock, uuidv7 } from "@signalbox/core";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { eventually, startProcess, type TestDatabase, type TestProcess, testDatabase } from "@signalbox/testing";
import { deathsMax } from "../consumer/deadly-messages.ts";
import { collect, imageUpdated, openLog, parts, topicSpec } from "../contract/log-under-test.ts";
import { openTestPool, openTestService } from "../contract/test-service.ts";
import { decodeEvent } from "../envelope/decode-event.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { EventLog, LogRecord } from "../event-log.ts";
import { createOutbox, type Outbox } from "../outbox/outbox.ts";

const keys = 30;
const versionsPerKey = 40;

const createEffects = sql("", "create table effect (seq serial, key text, title text)");
const countEffects = sql("", "select count(distinct (key, title))::int as rows from effect");
const readEffects = sql("", "select key, title from effect order by seq");

const sessionTimeoutMs = 1_500;

/** The permanent test of inbox and offsets: consumers that die in the middle of a batch. Both logs give again what was not committed. */
test("every event has its effect once, in order per key, while consumers are killed", async (context) => {
  const logDatabase = await testDatabase();
  context.after(() => logDatabase.close());
  const service = await openTestService();
  context.after(() => service.close());
  const topic = randomId("topic");
  const name = randomId("consumer");
  const eventLog = await openLog(logDatabase.url);
  context.after(() => eventLog.close());
  await eventLog.ensureTopics([topicSpec(topic)]);
  await service.pool.query(createEffects);
  const start = (crash: string, crashAt: number) => {
    const started = startProcess(join(import.meta.dirname, "consumer-process.ts"), [
      service.database.url,
      logDatabase.url,
      topic,
      name,
      String(sessionTimeoutMs),
      crash,
      String(crashAt),
    ]);
    context.after(() => started.kill());
    return started;
  };

  const doomed = [start("before-commit", 60), start("after-commit", 90)];
  for (let version = 1; version <= versionsPerKey; version++) {
    await eventLog.publish(Array.from({ length: keys }, (_, key) => message(topic, `thing-${key}`, version)));
  }
  for (const one of doomed) assert.equal((await one.exited).signal, "SIGKILL", one.stderr);
  const survivors = [start("after-commit", 200), start("never", 0)];
  const last = survivors[0] && (await Promise.race([survivors[0].exited, allEffects()]));
  if (last) survivors.push(start("never", 0));
  await allEffects();

  const effects = (await service.pool.query<{ key: string; title: string }>(readEffects)).rows;
  assert.equal(effects.length, keys * versionsPerKey, "no effect happened twice");
  for (const [key, ofKey] of Map.groupBy(effects, (effect) => effect.key)) {
    const expected = Array.from({ length: versionsPerKey }, (_, index) => String(index + 1));
    assert.deepEqual(
      ofKey.map(({ title }) => title),
      expected,
      `the effects of ${key}`,
    );
  }

  function allEffects(): Promise<void> {
    const isDone = async () =>
      (await service.pool.query<{ rows: number }>(countEffects)).rows[0]?.rows === keys * versionsPerKey;
    return eventually(isDone, { timeoutMs: 60_000 }).then(() => {});
  }
});

function message(topic: string, key: string, version: number): LogRecord {
  const fields = { service: "images", id: uuidv7(), time: systemClock.now(), traceparent: undefined };
  return { ...encodeEvent(imageUpdated(key, String(version)), fields), topic };
}

const readTitles = sql("", "select key, title from effect order by key, seq");
const countStarted = sql("", "select count(*)::int as rows from signalbox.begun");

describe("a message that kills the process handling it", () => {
  let logDatabase: TestDatabase;
  before(async () => {
    logDatabase = await testDatabase();
  });
  after(() => logDatabase.close());

  for (const mode of ["deadly", "deadly-once-parked"]) {
    test(`${mode}: it is given up after ${deathsMax} deaths, and all other messages are handled`, async (context) => {
      const service = await openTestService();
      context.after(() => service.close());
      await service.pool.query(sql("", "create table effect (seq serial, key text, title text)"));
      const eventLog = await openLog(logDatabase.url);
      context.after(() => eventLog.close());
      const topic = randomId("topic");
      const consumer = randomId("consumer");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 1 }), topicSpec(deadLetterTopic("images"))]);
      const titles = ["first", "deadly", "behind"];
      const fields = () => ({
        service: "images" as const,
        id: uuidv7(),
        time: systemClock.now(),
        traceparent: undefined,
      });
      const records = ["doomed", "other-1", "other-2"].flatMap((key) =>
        titles
          .filter((title) => title !== "deadly" || key === "doomed")
          .map((title) => ({ ...encodeEvent(imageUpdated(key, title), fields()), topic })),
      );
      await eventLog.publish(records);
      const dead = await collect(eventLog, randomId("group"), deadLetterTopic("images"));

      const isDone = async () => (await service.pool.query(readTitles)).rowCount === records.length - 1;
      const done = eventually(isDone, { timeoutMs: 120_000 }).then(() => null);
      let deaths = 0;
      while ((await Promise.race([start().exited, done])) !== null) deaths++;
      assert.equal(deaths, deathsMax);
      const letter = await eventually(
        () => dead.records.find(({ headers }) => headers["dead-letter-consumer"] === `images.${consumer}`) ?? null,
      );
      assert.equal(letter.headers["dead-letter-reason"], "3 processes died while they handled it");
      const effects = (await service.pool.query<{ key: string; title: string }>(readTitles)).rows;
      assert.deepEqual(
        effects.filter(({ key }) => key === "doomed").map(({ title }) => title),
        ["first", "behind"],
      );
      await eventually(async () => (await service.pool.query<{ rows: number }>(countStarted)).rows[0]?.rows === 0);
      await dead.subscription.close();

      function start() {
        const script = join(import.meta.dirname, "consumer-process.ts");
        const started = startProcess(script, [
          service.database.url,
          logDatabase.url,
          topic,
          consumer,
          "1500",
          mode,
          "0",
        ]);
        context.after(() => started.kill());
        return started;
      }
    });
  }
});

const writers = 8;
const relays = 3;
const things = Array.from({ length: 12 }, (_, index) => `thing-${index}`);
const rollbackShare = 0.1;
const crashShare = 0.08;
/** Writers go on until then: how long it takes is a matter of the machine. */
const crashesWanted = 5;

const createThings = sql("", "create table thing (key text primary key, version int not null)");
const addThings = sql("", "insert into thing select key, 0 from unnest($1::text[]) as key");
const takeXid = sql("", "select pg_current_xact_id()");
const change = sql("", "update thing set version = version + 1 where key = $1 returning version");
const versions = sql("", "select key, version from thing");
const waiting = sql("", "select count(*)::int as rows from signalbox.outbox");

/** The permanent test of the outbox: writers that roll back, relays that die at the worst moment. */
test("every commit has its event, in order per key and nothing else, while relays are killed", async (context) => {
  const logDatabase = await testDatabase();
  context.after(() => logDatabase.close());
  const service = await openTestService();
  context.after(() => service.close());
  const topic = randomId("topic");
  const eventLog = await openLog(logDatabase.url);
  context.after(() => eventLog.close());
  await eventLog.ensureTopics([topicSpec(topic)]);
  await service.pool.query(createThings);
  await service.pool.query(addThings, [things]);
  const writing = openTestPool(service.database.url);
  context.after(() => writing.close());
  const outbox = createOutbox({ pool: writing, service: "images", maxBytes: 2_097_152, ...parts() });

  const relaying = keepRelaysAlive(service.database.url, logDatabase.url, topic);
  context.after(() => relaying.stop());
  const isEnough = () => relaying.crashes() >= crashesWanted;
  await Promise.all(Array.from({ length: writers }, (_, index) => write(writing, outbox, index, isEnough)));
  await eventually(async () => (await service.pool.query<{ rows: number }>(waiting)).rows[0]?.rows === 0, {
    timeoutMs: 60_000,
  });
  await relaying.stop();
  const crashes = relaying.crashes();

  const published = await publishedVersions(eventLog, topic);
  const { rows } = await service.pool.query<{ key: string; version: number }>(versions);
  for (const { key, version } of rows) {
    const firstSeen = [...new Set(published.get(key))];
    const expected = Array.from({ length: version }, (_, index) => index + 1);
    assert.deepEqual(firstSeen, expected, `the events of ${key}, repetitions left out`);
  }
  assert.equal(published.size, rows.filter(({ version }) => version > 0).length);
  const committed = rows.reduce((sum, { version }) => sum + version, 0);
  const all = [...published.values()].flat().length;
  context.diagnostic(`${committed} commits, ${all - committed} repetitions, ${crashes} crashes`);
});

/** Half of the writers take their transaction id long before they touch the row: ids then disagree with commits. */
async function write(pool: Pool, outbox: Outbox, writer: number, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    const key = things[Math.floor(Math.random() * things.length)] as string;
    const transaction = inTransaction(pool, async (tx) => {
      if (writer % 2 === 0) {
        await tx.query(takeXid);
        await sleep(Math.random() * 10);
      }
      const { rows } = await tx.query<{ version: number }>(change, [key]);
      await outbox.append(tx, [imageUpdated(key, String(rows[0]?.version))]);
      if (Math.random() < 0.3) await sleep(Math.random() * 5);
      if (Math.random() < rollbackShare) throw new Error("rolled back on purpose");
    });
    await transaction.catch((error: Error) => assert.equal(error.message, "rolled back on purpose"));
  }
}

/** Starts relays, and another one for each that dies. */
function keepRelaysAlive(databaseUrl: string, logUrl: string, topic: string) {
  const script = join(import.meta.dirname, "relay-process.ts");
  const running = new Set<TestProcess>();
  let crashes = 0;
  let isStopping = false;

  async function keepOne(): Promise<void> {
    while (!isStopping) {
      const relay = startProcess(script, [databaseUrl, logUrl, topic, String(crashShare)]);
      running.add(relay);
      const { signal, code } = await relay.exited;
      running.delete(relay);
      if (isStopping) return;
      assert.equal(signal, "SIGKILL", `a relay ended with ${code}: ${relay.stderr}`);
      crashes++;
    }
  }
  const keeping = Promise.all(Array.from({ length: relays }, keepOne));

  return {
    crashes: () => crashes,
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all([...running].map((relay) => relay.kill()));
      await keeping;
    },
  };
}

async function publishedVersions(eventLog: EventLog, topic: string): Promise<Map<string, number[]>> {
  const published = new Map<string, number[]>();
  const reader = await eventLog.broadcast({
    service: "images",
    instance: randomId("check"),
    topics: [topic],
    from: "start",
    onRecord(record) {
      const version = Number(decodeEvent("image.updated", record).data.title);
      published.set(record.key, [...(published.get(record.key) ?? []), version]);
    },
  });
  await reader.caughtUp;
  await reader.close();
  return published;
}
