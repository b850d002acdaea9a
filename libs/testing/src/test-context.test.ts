import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defineProperties } from "@signalbox/runtime";
import { eventually } from "./eventually.ts";
import { startProcess } from "./start-process.ts";
import { testContext } from "./test-context.ts";

const common = { secrecy: "public", reload: "restart", effect: "Something." } as const;
const properties = defineProperties({
  "thing.limit": { ...common, type: "integer", default: 5 },
  "thing.names": { ...common, type: "list", default: [] },
});

test("overrides stand above the defaults of the properties", async () => {
  const context = testContext("images", properties, { "thing.names": ["a", "b"] });
  assert.equal(context.configuration.get("thing.limit"), 5);
  assert.deepEqual(context.configuration.get("thing.names"), ["a", "b"]);
  await context.close();
});

test("a wrong override fails as a wrong command line does", () => {
  assert.throws(() => testContext("images", properties, { "thing.limit": "many" }), /thing\.limit/);
});

test("closing ends the workers before it closes in reverse", async () => {
  const context = testContext("images", properties);
  const order: string[] = [];
  context.runner.defer("first", () => order.push("first"));
  context.runner.defer("second", () => order.push("second"));
  context.runner.worker("loop", async (signal) => {
    order.push("worker");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    order.push("worker ended");
  });
  await eventually(() => order.includes("worker"));
  await context.close();
  assert.deepEqual(order, ["worker", "worker ended", "second", "first"]);
});

test("log lines are kept for the test instead of being printed", async () => {
  const context = testContext("images", properties);
  context.log.info({ image_id: "img_1" }, "An image came");
  assert.equal(context.logged[0]?.image_id, "img_1");
  await context.close();
});

test("the value of the first successful check is returned", async () => {
  let calls = 0;
  const value = await eventually(() => (++calls < 3 ? null : "here"));
  assert.equal(value, "here");
  assert.equal(calls, 3);
});

test("a check made of assertions is done once it does not throw", async () => {
  let calls = 0;
  await eventually(() => {
    calls++;
    assert.equal(calls, 4);
  });
  assert.equal(calls, 4);
});

test("zero or the empty text is a value, not a failure", async () => {
  assert.equal(await eventually(() => 0), 0);
  assert.equal(await eventually(() => ""), "");
});

test("time in which the process did not run does not count", async () => {
  let calls = 0;
  const value = await eventually(
    () => {
      // The pause after the second check ends 300 ms late, as on a busy machine.
      if (++calls === 2) setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
      return calls === 4;
    },
    { timeoutMs: 250 },
  );
  assert.equal(value, true);
});

test("a check that takes its time counts", async () => {
  const slow = eventually(() => new Promise<false>((resolve) => setTimeout(() => resolve(false), 60)), {
    timeoutMs: 100,
  });
  await assert.rejects(slow, /gave up after 100 ms/);
});

test("giving up says what was waited for, with the last error", async () => {
  const last = new Error("two of three arrived");
  const waiting = eventually(() => Promise.reject(last), { timeoutMs: 40, message: "all events arrive" });
  await assert.rejects(waiting, (error: Error) => {
    assert.match(error.message, /gave up after 40 ms: all events arrive; last: two of three arrived/);
    return error.cause === last;
  });
});

const folder = await mkdtemp(join(tmpdir(), "signalbox-testing-"));
after(() => rm(folder, { recursive: true }));

async function script(code: string): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(file, code);
  return file;
}

test("arguments, environment, output and exit code pass through", async () => {
  const code = "console.log(process.argv[2], process.env.COLOUR, process.env.NODE_TEST_CONTEXT); process.exit(3)";
  const child = startProcess(await script(code), ["one"], { COLOUR: "blue" });
  assert.deepEqual(await child.exited, { code: 3, signal: null });
  assert.equal(child.stdout, "one blue undefined\n");
  assert.equal(child.isRunning, false);
});

test("signals reach the process; a kill cannot be caught", async () => {
  const code = "process.on('SIGTERM', () => console.log('caught')); setInterval(() => {}, 1000); console.log('up')";
  const child = startProcess(await script(code));
  await child.waitForOutput(/up/);
  child.signal("SIGTERM");
  await child.waitForOutput(/caught/);
  assert.deepEqual(await child.kill(), { code: null, signal: "SIGKILL" });
});

test("waiting for output fails at once, with the output, when the process has ended", async () => {
  const child = startProcess(await script("console.error('no configuration')"));
  await assert.rejects(child.waitForOutput(/ready/), /it ended:\nno configuration/);
});
