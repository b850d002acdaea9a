import assert from "node:assert/strict";
import { test } from "node:test";
import { openPool, sql } from "@signalbox/storage";
import { eventually, testContext, testDatabase } from "@signalbox/testing";
import { createWakeUps } from "./wake-ups.ts";

const notify = sql("test.notify", "select pg_notify('signalbox_log', $1)");

test("a reader is woken for its own topics, by this process and by others, and all readers after a silence", async () => {
  const context = testContext("account", {});
  const database = await testDatabase();
  const pool = openPool({ url: database.url, max: 3, applicationName: "wake-ups-test", ...context });
  const wakeUps = createWakeUps(pool, database.url);
  const heard: string[] = [];
  const listen = (name: string, topics: readonly string[]) =>
    wakeUps.listen({ topics, onRecords: () => heard.push(name), onMembers: () => heard.push(`members of ${name}`) });
  const stops = [listen("images", ["images.v1"]), listen("both", ["images.v1", "accounts.v1"])];

  const everyone = ["members of images", "images", "members of both", "both"].sort();
  await eventually(() => assert.deepEqual(heard.toSorted(), everyone), {
    message: "all are woken once the listener is connected",
  });

  heard.length = 0;
  wakeUps.announceRecords(["accounts.v1", "accounts.v1", "nobody.v1"]);
  assert.deepEqual(heard, ["both"], "at once");
  for (const message of ["process_other images.v1", "process_other accounts.v1 nobody.v1", "process_other *"]) {
    await pool.query(notify, [message]);
  }
  const expected = ["both", "images", "both", "both", "members of images", "members of both"];
  await eventually(() => assert.deepEqual(heard, expected), { message: "others are heard, and our own echo is not" });

  for (const stop of stops) stop();
  wakeUps.announceMembers();
  assert.deepEqual(heard, expected, "a reader that left is not woken");
  await wakeUps.close();
  await context.close();
  await database.close();
});

test("members send a heartbeat at once when the presence connection is lost", async (t) => {
  const context = testContext("account", {});
  const database = await testDatabase();
  const pool = openPool({ url: database.url, max: 3, applicationName: "wake-ups-test", ...context });
  const wakeUps = createWakeUps(pool, database.url);
  const shown: (number | null)[] = [];
  t.after(async () => {
    await wakeUps.close();
    await context.close();
    await database.close();
  });
  wakeUps.listen({ topics: [], onRecords: () => {}, onMembers: () => shown.push(wakeUps.presence()) });
  const presence = await eventually(() => shown.at(-1) ?? null);
  const end = sql("", "select pg_terminate_backend(pid) from pg_locks where classid = 4202 and objid = $1::int::oid");
  await pool.query(end, [presence]);
  await eventually(() => shown.length === 3, { message: "they are woken without it, and again with the next" });
  assert.deepEqual([shown[0], shown[1]], [presence, null]);
  assert.ok(shown[2] !== null && shown[2] !== presence);
});
