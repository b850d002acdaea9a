import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog } from "../test/quiet-log.ts";
import { createHealth } from "./create-health.ts";

const create = () => createHealth({ log: quietLog().log, checkMsMax: 20 });

test("nothing is ready before every step of the start is done", async () => {
  const health = create();
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
  const health = create();
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

test("a process is judged by its liveness checks, and not by their lateness", async () => {
  const health = create();
  health.live("slow", () => new Promise(() => {}));
  assert.equal((await health.report()).live.status, "up");
  health.live("stuck", () => "nothing was read for too long");
  const { live } = await health.report();
  assert.deepEqual(live.checks.stuck, { status: "down", reason: "nothing was read for too long" });
  assert.equal(live.status, "down");
});

test("a stopping process is not ready but still live", async () => {
  const health = create();
  health.drain();
  const { ready, live } = await health.report();
  assert.deepEqual([ready.status, ready.checks.process?.reason, live.status], ["down", "stopping", "up"]);
});
