import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { findProgram } from "./doctor.ts";
import { type Engine, EngineAbsentError, type RunningEngine } from "./engine.ts";
import { createEngineSet } from "./engine-set.ts";
import { sharedEngines } from "./engines.ts";
import { startOwnEngine } from "./own-engines.ts";
import { isRunning, signalProcess } from "./processes.ts";
import { redis } from "./program-engines.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-engines-"));
const set = createEngineSet({ folder, engines: [redis] });
const quiet = () => {};
after(async () => {
  await set.stop(quiet);
  await rm(folder, { recursive: true });
});

const startRedis = async () => (await set.start(quiet)).redis as RunningEngine;

test("starts that race end with one engine", async () => {
  const all = await Promise.all([startRedis(), startRedis(), startRedis()]);
  assert.deepEqual(new Set(all.map(({ pid }) => pid)).size, 1);
});

test("a killed engine is stale until it is started again", async () => {
  const killed = await startRedis();
  signalProcess(killed.pid, "SIGKILL");
  while (await isRunning(killed));
  assert.equal((await set.states())[0]?.state, "stale");
  const next = await startRedis();
  assert.notEqual(next.pid, killed.pid);
  assert.equal((await set.states())[0]?.state, "running");
});

test("an engine that is late is waited for, because others may be working with it", async () => {
  const first = await startRedis();
  let questions = 0;
  const late: Engine = { ...redis, answers: async (port) => ++questions > 2 && (await redis.answers(port)) };
  const again = await createEngineSet({ folder, engines: [late] }).start(quiet);
  assert.equal(again.redis?.pid, first.pid);
});

test("stopping ends a running engine", async () => {
  const running = await startRedis();
  await set.stop(quiet);
  assert.equal(await isRunning(running), false);
  assert.equal((await set.states())[0]?.state, "stopped");
});

test("data that lie outside of the set's folder, as those in memory, go with their engine", async () => {
  const outside = await mkdtemp(join(tmpdir(), "signalbox-outside-"));
  const elsewhere: Engine = { ...redis, start: async (place) => ({ ...(await redis.start(place)), folder: outside }) };
  const own = createEngineSet({ folder: join(folder, "elsewhere"), engines: [elsewhere] });
  await own.start(quiet);
  assert.ok(existsSync(outside));
  await own.stop(quiet);
  assert.equal(existsSync(outside), false);
});

test("engines that are ready at the same moment are all remembered", async () => {
  const names = ["postgres", "kafka", "s3", "redis"] as const;
  const ready = (name: (typeof names)[number]): Engine => ({
    ...redis,
    name,
    fetch: async () => name,
    start: async (place) => ({ ...place, name, url: `test://${name}`, port: 1, pid: 0, identity: "none", details: {} }),
  });
  for (let round = 0; round < 20; round++) {
    const own = createEngineSet({ folder: join(folder, `round-${round}`), engines: names.map(ready) });
    await own.start(quiet);
    assert.deepEqual(
      (await own.states()).map(({ endpoint }) => endpoint?.url).sort(),
      names.map((name) => `test://${name}`).sort(),
    );
  }
});

test("a part of the tests starts only the engines that it asks for", async () => {
  const begun: string[] = [];
  const noted = (name: "kafka" | "s3"): Engine => ({
    ...redis,
    name,
    fetch: async () => name,
    start: async (place) => {
      begun.push(name);
      return { ...place, name, url: `test://${name}`, port: 1, pid: 0, identity: "none", details: {} };
    },
  });
  const own = createEngineSet({ folder: join(folder, "named"), engines: [noted("kafka"), noted("s3")] });
  assert.equal((await own.start(quiet, ["s3"])).s3?.url, "test://s3");
  assert.deepEqual(begun, ["s3"]);
});

test("an absent program is named with the command that installs it", async () => {
  const absent = {
    names: ["no-such-engine"],
    usedFor: "tests",
    packages: { debian: "lost", fedora: null, macos: null },
  };
  await assert.rejects(findProgram("no-such-engine", [absent]), (error) => {
    assert.ok(error instanceof EngineAbsentError);
    assert.match(error.message, /no-such-engine is absent; install it with:\n +debian +apt-get install .* lost/);
    return true;
  });
});

for (const engine of sharedEngines) {
  test(`${engine.name} comes back on its port after a pause or a kill`, async () => {
    const own = await startOwnEngine(engine);
    try {
      await eventually(() => engine.answers(own.port), { message: "it answers once it is started" });
      await own.pause();
      assert.equal(await engine.answers(own.port), false, "a paused engine is silent");
      await own.resume();
      await eventually(() => engine.answers(own.port), { message: "it answers after the pause" });
      await own.kill();
      assert.equal(await engine.answers(own.port), false, "a killed engine is gone");
      await own.restart();
      await eventually(() => engine.answers(own.port), { message: "it answers after the restart" });
    } finally {
      await own.close();
    }
    assert.equal(await engine.answers(own.port), false, "a closed engine is gone");
  });
}
