import assert from "node:assert/strict";
import { after, afterEach, before, it, mock } from "node:test";
import { newId, setSystemClock, systemClock, timeOfPublicId } from "@signalbox/core";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { followDatabaseClock, startByDatabaseClock } from "./database-clock.ts";
import { openPool } from "./pool.ts";

const hourMs = 3_600_000;
const { log, metrics, logged, ...shared } = testContext("account", {});
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
afterEach(() => {
  mock.timers.reset();
  setSystemClock(Date.now());
});
after(async () => {
  await shared.close();
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
  it(`on a machine an hour ${words}, records and ids have the time of the database from the start`, async () => {
    setMachine(offMs);
    assert.equal(isRight(), false);
    await startByDatabaseClock({ url: database.url, log, waitMs: 0 });
    assert.equal(isRight(), true);
  });

it("a clock that goes wrong is corrected, said once, shown, and left alone when it is right again", async () => {
  const pool = openPool({ url: database.url, max: 1, applicationName: "clock-test", log, metrics, ...shared });
  let measure: Parameters<Parameters<typeof followDatabaseClock>[0]["runner"]["housekeeping"]>[2] = async () => {};
  followDatabaseClock({
    pool,
    log,
    metrics,
    runner: {
      housekeeping: (_name, _pauseMs, turn) => {
        measure = turn;
      },
    },
  });
  const turn = () => measure(new AbortController().signal, () => {});
  const lines = logged.length;
  setMachine(-hourMs);
  for (let time = 0; time < 2; time++) await turn();
  assert.equal(isRight(), true);
  assert.equal(
    logged.slice(lines).filter(({ offset_seconds }) => Math.round(Number(offset_seconds)) === 3_600).length,
    1,
  );
  assert.match(await metrics.text(), /signalbox_clock_offset_seconds\{.*\} 3[56]\d\d/);
  setMachine(0);
  await turn();
  assert.equal(isRight(), true);
  assert.ok(Math.abs(systemClock.nowMs() - Date.now()) < 1);
});
