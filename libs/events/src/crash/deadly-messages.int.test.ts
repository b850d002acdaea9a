import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deadLetterTopic } from "@signalbox/contracts";
import { randomId, systemClock, uuidv7 } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, startProcess, type TestDatabase, testDatabase } from "@signalbox/testing";
import { deathsMax } from "../consumer/deadly-messages.ts";
import { collect, imageUpdated, openLog, topicSpec } from "../contract/log-under-test.ts";
import { openTestService } from "../contract/test-service.ts";
import { encodeEvent } from "../envelope/encode-event.ts";

const readEffects = sql("", "select key, title from effect order by key, seq");
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

      const isDone = async () => (await service.pool.query(readEffects)).rowCount === records.length - 1;
      const done = eventually(isDone, { timeoutMs: 120_000 }).then(() => null);
      let deaths = 0;
      while ((await Promise.race([start().exited, done])) !== null) deaths++;
      assert.equal(deaths, deathsMax);
      const letter = await eventually(
        () => dead.records.find(({ headers }) => headers["dead-letter-consumer"] === `images.${consumer}`) ?? null,
      );
      assert.equal(letter.headers["dead-letter-reason"], "3 processes died while they handled it");
      const effects = (await service.pool.query<{ key: string; title: string }>(readEffects)).rows;
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
