import assert from "node:assert/strict";
import { after, afterEach, before, it, mock } from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { newId, setSystemClock, systemClock, timeOfPublicId, trueMs } from "@signalbox/core";
import { createInternalApp } from "@signalbox/http";
import { httpProperties } from "@signalbox/http/properties";
import type { Runner } from "@signalbox/runtime";
import { openPool } from "@signalbox/storage";
import { databaseProperties } from "@signalbox/storage/properties";
import { serveListener, serviceWith, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { clockRoutes, followDatabaseClock, followServiceClock, startByDatabaseClock } from "./clock-sync.ts";

const hourMs = 3_600_000;
const { log, metrics, logged, ...shared } = testContext("account", {});
const edge = testContext("account", httpProperties);
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
afterEach(() => {
  mock.timers.reset();
  setSystemClock(Date.now());
});
after(async () => {
  await Promise.all([shared.close(), edge.close()]);
  await database.close();
});

const realMs = () => performance.timeOrigin + performance.now();
const setMachine = (offMs: number) => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: realMs() + offMs });
};
const isRight = () => {
  const shown = [systemClock.nowMs(), systemClock.now().getTime(), timeOfPublicId(newId("evt")) as number];
  return shown.every((ms) => Math.abs(ms - realMs()) < 60_000);
};

for (const [words, offMs] of [
  ["fast", hourMs],
  ["slow", -hourMs],
] as const)
  it(`a machine an hour ${words} has the database's time from the start`, async () => {
    setMachine(offMs);
    assert.equal(isRight(), false);
    await startByDatabaseClock(testContext("account", databaseProperties, { "database.url": database.url }));
    assert.equal(isRight(), true);
  });

/** Follows a clock with measurements by hand. */
function byHand(follow: (runner: Runner) => void): () => Promise<unknown> {
  let measure: () => Promise<unknown> = async () => {};
  follow(
    serviceWith<Runner>({
      housekeeping: (_name, _pauseMs, turn) => {
        measure = () => turn(new AbortController().signal, () => {});
      },
    }),
  );
  return () => measure();
}

it("a clock that goes wrong is corrected until it is right again, reported once", async () => {
  const pool = openPool({ url: database.url, max: 1, applicationName: "clock-test", log, metrics, ...shared });
  const measure = byHand((runner) => followDatabaseClock({ pool, log, metrics, runner }));
  const lines = logged.length;
  setMachine(-hourMs);
  for (let time = 0; time < 2; time++) await measure();
  assert.equal(isRight(), true);
  const offsets = logged.slice(lines).map(({ offset_seconds }) => Math.round(Number(offset_seconds)));
  assert.deepEqual(
    offsets.filter((offset) => !Number.isNaN(offset)),
    [3_600],
  );
  assert.match(await metrics.text(), /signalbox_clock_offset_seconds\{.*\} 3[56]\d\d/);
  assert.ok(Math.abs(trueMs(Date.now()) - realMs()) < 60_000, "the time of a file that the machine has just written");
  setMachine(0);
  await measure();
  assert.equal(isRight(), true);
  assert.ok(Math.abs(systemClock.nowMs() - Date.now()) < 1);
});

it("a process without a database follows the clock of a service, even through its outage", async () => {
  const routes = clockRoutes({ ...systemClock, nowMs: realMs });
  const server = await serveListener(createInternalApp({ context: edge, tokens: ["token"], routes }));
  const client = {
    async get(path: string) {
      const answer = await fetch(server.url + path, { headers: { [internalTokenHeader]: "token" } });
      return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
    },
  };
  const measure = byHand((runner) => followServiceClock({ client, log, metrics, runner }));
  setMachine(hourMs);
  await measure();
  assert.equal(isRight(), true);
  await server.close();
  await measure();
  assert.equal(isRight(), true);
});
