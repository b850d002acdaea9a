import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { AppError, createManualClock, systemClock } from "@signalbox/core";
import { quietLog } from "../test/quiet-log.ts";
import { createRunner } from "./create-runner.ts";
import { createHealth } from "./health.ts";

const fast = { firstDelayMs: 1, delayMsMax: 2, failuresMax: 3 };
const create = (options: Partial<Parameters<typeof createRunner>[0]> = {}) => {
  const { log, lines } = quietLog();
  return { runner: createRunner({ log, clock: systemClock, policy: fast, ...options }), lines };
};
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("everything is closed in reverse order, once work is drained", async () => {
  const { runner } = create();
  const order: string[] = [];
  runner.defer("pool", () => order.push("pool"));
  runner.worker("relay", async (signal) => {
    await untilAborted(signal);
    await sleep(20);
    order.push("relay");
  });
  runner.defer("listener", () => order.push("listener"));
  runner.onDrain("listener", async () => {
    await sleep(10);
    order.push("drained");
  });
  assert.deepEqual(await runner.stop(5_000), []);
  assert.deepEqual(order, ["drained", "relay", "listener", "pool"]);
});

test("a close that fails or hangs is named without preventing the others", async () => {
  const { runner, lines } = create({ closeMsMax: 20 });
  const closed: string[] = [];
  runner.defer("pool", () => closed.push("pool"));
  runner.defer("stuck", () => new Promise(() => {}));
  runner.defer("broken", () => assert.fail("no"));
  assert.deepEqual(await runner.stop(5_000), ["stuck"]);
  assert.deepEqual(closed, ["pool"]);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error").map(({ part }) => part),
    ["broken", "stuck"],
  );
});

test("a close with a time limit of its own may take longer than the others", async (t) => {
  const { runner } = create({ clock: createManualClock(), closeMsMax: 20 });
  runner.defer("database", () => sleep(75), { withinMs: 80 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stopped = runner.stop(100);
  await setImmediate();
  t.mock.timers.tick(75);
  assert.deepEqual(await stopped, []);
});

test("a drain that hangs leaves time for the closes", async (t) => {
  const clock = createManualClock();
  const { runner } = create({ clock });
  const closed: string[] = [];
  runner.defer("pool", () => closed.push("pool"));
  runner.onDrain("upload", () => new Promise(() => {}));
  runner.worker("deaf", () => new Promise(() => {}));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stopped = runner.stop(100);
  // By hand: with real time a pause of this process could take the rest of the time for the closes.
  for (const milliseconds of [80, 20]) {
    clock.advance(milliseconds);
    t.mock.timers.tick(milliseconds);
    await setImmediate();
  }
  assert.deepEqual(await stopped, ["upload", "deaf"]);
  assert.deepEqual(closed, ["pool"]);
});

test("a resource opened after the stop is closed immediately", async () => {
  const { runner } = create();
  await runner.stop(100);
  let closed = false;
  runner.defer("late", () => {
    closed = true;
  });
  assert.ok(closed);
  assert.ok(runner.stopping.aborted);
});

test("a worker that fails or ends early is restarted, until it gives up by name", async () => {
  const { runner, lines } = create();
  let runs = 0;
  runner.worker("relay", async () => {
    runs += 1;
    if (runs === 1) throw new Error("first");
  });
  assert.equal(await runner.gaveUp, "relay");
  assert.equal(runs, 3);
  assert.equal(runner.trouble(), "the worker relay gave up");
  assert.ok(lines.some(({ level, msg }) => level === "error" && String(msg).includes("failed too often")));
  assert.deepEqual(await runner.stop(100), []);
});

test("an outage of a dependency is waited out, for any time", async () => {
  const { runner } = create();
  const away = [
    new AppError("unavailable", "The database is away."),
    Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    new AggregateError([Object.assign(new Error("refused"), { code: "ECONNREFUSED" })]),
    new Error("query failed", { cause: Object.assign(new Error("shut down"), { code: "57P01" }) }),
  ];
  let runs = 0;
  const back = Promise.withResolvers<void>();
  runner.worker("relay", async (signal) => {
    const failure = away[runs++ % away.length];
    if (runs < 20) throw failure;
    back.resolve();
    await untilAborted(signal);
  });
  await back.promise;
  assert.equal(runner.trouble(), null);
  assert.equal(runner.workers()[0]?.restarts, 19);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("a silent worker makes the process unhealthy only if it ever reported progress", async () => {
  const clock = createManualClock();
  const { runner } = create({ clock });
  let beatNow = () => {};
  runner.worker("consumer", async (signal, beat) => {
    beatNow = beat;
    beat();
    await untilAborted(signal);
  });
  runner.worker("quiet", untilAborted);
  clock.advance(59_000);
  assert.equal(runner.trouble(), null);
  clock.advance(2_000);
  assert.equal(runner.trouble(), "the worker consumer is stuck");
  beatNow();
  assert.equal(runner.trouble(), null);
  assert.deepEqual(
    runner.workers().map(({ silentMs }) => silentMs),
    [0, null],
  );
  await runner.stop(5_000);
});

test("parts of one service in a shared process carry its name", async () => {
  const { runner } = create();
  const scoped = runner.scoped("images");
  scoped.worker("relay", untilAborted);
  scoped.onDrain("uploads", () => new Promise(() => {}));
  assert.equal(runner.workers()[0]?.name, "images/relay");
  assert.deepEqual(await runner.stop(50), ["images/uploads"]);
});

const createQuietHealth = () => createHealth({ log: quietLog().log, checkMsMax: 20 });

test("nothing is ready before every step of the start is done", async () => {
  const health = createQuietHealth();
  const service = health.startup("service");
  const state = health.scoped("images").startup("access states");
  service.done();
  let report = await health.report();
  assert.deepEqual(report.startup, {
    status: "down",
    checks: { service: { status: "up" }, "images/access states": { status: "down", reason: "has not finished" } },
  });
  assert.equal(report.ready.checks.process?.reason, "starting");
  assert.equal(report.live.status, "up");
  state.done();
  report = await health.report();
  assert.equal(report.startup.status, "up");
  assert.equal(report.ready.status, "up");
});

test("a check that fails, throws or hangs makes it down, with a harmless reason", async () => {
  const health = createQuietHealth();
  health.ready("pool", () => "no connection is free");
  health.ready("broken", () => Promise.reject(new Error("password=hunter2")));
  health.ready("slow", () => new Promise(() => {}));
  health.ready("fine", async () => null);
  const { ready, live } = await health.report();
  assert.deepEqual(ready.checks, {
    process: { status: "up" },
    pool: { status: "down", reason: "no connection is free" },
    broken: { status: "down", reason: "the check failed" },
    slow: { status: "down", reason: "the check takes too long" },
    fine: { status: "up" },
  });
  assert.equal(ready.status, "down");
  assert.equal(live.status, "up");
});

test("a process is judged by its liveness checks, not by their lateness", async () => {
  const health = createQuietHealth();
  health.live("slow", () => new Promise(() => {}));
  assert.equal((await health.report()).live.status, "up");
  health.live("stuck", () => "nothing was read for too long");
  const { live } = await health.report();
  assert.deepEqual(live.checks.stuck, { status: "down", reason: "nothing was read for too long" });
  assert.equal(live.status, "down");
});

test("a stopping process is not ready but still live", async () => {
  const health = createQuietHealth();
  health.drain();
  const { ready, live } = await health.report();
  assert.deepEqual([ready.status, ready.checks.process?.reason, live.status], ["down", "stopping", "up"]);
});
