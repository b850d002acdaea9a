import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { randomId, systemClock, uuidv7 } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, startProcess, testDatabase } from "@signalbox/testing";
import { imageUpdated, openLog, topicSpec } from "../contract/log-under-test.ts";
import { openTestService } from "../contract/test-service.ts";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { LogRecord } from "../event-log.ts";

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
