/**
 * A consumer that may kill itself in the middle of an effect or right after its commit. Arguments: database url, log
 * url, topic, name, session timeout, "never" | "before-commit" | "after-commit", number of the fatal message; or
 * "deadly" | "deadly-once-parked", for the message titled "deadly".
 */
import { hours } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { createConsumer } from "../consumer/create-consumer.ts";
import { openLog, parts } from "../contract/log-under-test.ts";
import { openTestPool, testWorkers } from "../contract/test-service.ts";
import { createDeadLetters } from "../dead-letters/dead-letters.ts";

const [databaseUrl, logUrl, topic, name, sessionTimeoutMs, crash, crashAt] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const die = () => process.kill(process.pid, "SIGKILL");
const insertEffect = sql("test.effect", "insert into effect (key, title) values ($1, $2)");
const eventLog = await openLog(logUrl, "consumer");
const common = { service: "images", name, eventLog, ...parts() } as const;
let handled = 0;

createConsumer({
  ...common,
  deadLetters: createDeadLetters(common),
  pool: openTestPool(databaseUrl),
  inboxRetentionMs: hours(24),
  sessionTimeoutMs: Number(sessionTimeoutMs),
  topics: [topic],
  retryDelaysMs: [10, 10, 10],
  table: {
    async "image.updated"(event, { tx, attempt }) {
      if (event.data.title === "deadly" && crash === "deadly") die();
      if (event.data.title === "deadly" && crash === "deadly-once-parked") {
        if (attempt === 1) throw new Error("not at once");
        die();
      }
      await tx.query(insertEffect, [event.subject, event.data.title]);
      if (++handled !== Number(crashAt)) return;
      if (crash === "before-commit") die();
      if (crash === "after-commit") tx.afterCommit(die);
    },
  },
}).start(testWorkers());
