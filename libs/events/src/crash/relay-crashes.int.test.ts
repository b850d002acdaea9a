import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { eventually, startProcess, type TestProcess, testDatabase } from "@signalbox/testing";
import { imageUpdated, openLog, parts, topicSpec } from "../contract/log-under-test.ts";
import { openTestPool, openTestService } from "../contract/test-service.ts";
import { decodeEvent } from "../envelope/decode-event.ts";
import type { EventLog } from "../event-log.ts";
import { createOutbox, type Outbox } from "../outbox/outbox.ts";

const writers = 8;
const relays = 3;
const keys = Array.from({ length: 12 }, (_, index) => `thing-${index}`);
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
  await service.pool.query(addThings, [keys]);
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
    const key = keys[Math.floor(Math.random() * keys.length)] as string;
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
