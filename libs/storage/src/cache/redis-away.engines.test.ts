import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, it } from "node:test";
import { eventually, type OwnEngine, startEngine, type TestContext, testContext } from "@signalbox/testing";
import { Redis } from "ioredis";
import type { Cache } from "./cache.ts";
import { openCache } from "./open-cache.ts";
import { createRateLimiter } from "./rate-limiter.ts";

const commandTimeoutMs = 2_000;
const soon = { expiresInMs: 60_000 };
let engine: OwnEngine;
let context: TestContext<Record<never, never>>;
let cache: Cache;

beforeEach(async () => {
  engine = await startEngine("redis");
  context = testContext("images", {});
  cache = await openCache({ url: engine.url, ...context, commandTimeoutMs });
});
afterEach(async () => {
  await context.close();
  await engine.close();
});

async function assertWorksWithout(): Promise<void> {
  assert.equal(await cache.get("key"), null);
  await cache.set("key", "value", soon);
  await cache.delete("key");
  assert.equal(await cache.lease("key", { durationMs: 1_000 }), null);
  assert.equal(await cache.takeShares("key", { wanted: 1, limit: 10, windowMs: 1_000 }), null);
}

it("a Redis that dies is away within one call until it is back", async () => {
  await cache.set("key", "value", soon);
  await engine.kill();
  await eventually(() => cache.state === "away");
  await assertWorksWithout();
  assert.equal(await cache.increment("counter", 2, soon), 2);
  assert.equal(await cache.increment("counter", 2, soon), 4, "counts in this process");
  await engine.restart();
  await eventually(() => cache.state === "up");
  await cache.set("key", "again", soon);
  assert.equal(String(await cache.get("key")), "again");
});

it("a Redis that hangs costs one timeout until it is back", async () => {
  await engine.pause();
  await Promise.all(Array.from({ length: 20 }, () => cache.get("key")));
  assert.equal(cache.state, "away");
  const startedAt = performance.now();
  for (let turn = 0; turn < 100; turn++) await assertWorksWithout();
  assert.ok(performance.now() - startedAt < commandTimeoutMs, "500 calls without an answer to wait for");
  await engine.resume();
  await eventually(() => cache.state === "up");
});

it("a Redis that takes no writes is away, because it could not forget an outdated value", async () => {
  const admin = new Redis(engine.url);
  await cache.set("key", "value", soon);
  await cache.set("other", "value", soon);
  await admin.call("REPLICAOF", "127.0.0.1", "1");
  await cache.delete("key");
  assert.equal(cache.state, "away");
  assert.equal(await cache.get("other"), null);
  await assertWorksWithout();
  assert.equal(await cache.increment("counter", 2, soon), 2, "counts in this process");
  const late = await openCache({ url: engine.url, ...context, commandTimeoutMs });
  assert.equal(late.state, "away", "one that starts meanwhile sees it too");
  await admin.call("REPLICAOF", "NO", "ONE");
  admin.disconnect();
  await eventually(() => cache.state === "up" && late.state === "up");
  assert.equal(String(await cache.get("other")), "value");
});

it("a Redis whose user may not run scripts is away, because it could count nothing", async () => {
  const admin = new Redis(engine.url);
  await admin.call("ACL", "SETUSER", "default", "-eval", "-evalsha");
  assert.equal(await cache.increment("counter", 2, soon), 2, "counts in this process");
  assert.equal(cache.state, "away");
  const late = await openCache({ url: engine.url, ...context, commandTimeoutMs });
  assert.equal(late.state, "away", "one that starts meanwhile sees it too");
  await admin.call("ACL", "SETUSER", "default", "+eval", "+evalsha");
  admin.disconnect();
  await eventually(() => cache.state === "up" && late.state === "up");
});

for (const refusal of ["MOVED 3999 127.0.0.1:6381", "CLUSTERDOWN Hash slot not served"]) {
  it(`a node of a cluster that refuses with ${refusal.split(" ")[0]} is away`, async () => {
    const node = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        const isInfo = /info/i.test(String(data));
        socket.write(isInfo ? "$9\r\nloading:0\r\n" : `-${refusal}\r\n`);
      });
    });
    await once(node.listen(0, "127.0.0.1"), "listening");
    const { port } = node.address() as AddressInfo;
    const refused = await openCache({ url: `redis://127.0.0.1:${port}`, ...context, commandTimeoutMs });
    assert.equal(refused.state, "away");
    node.close();
  });
}

it("a release during an outage of Redis does not throw", async () => {
  const lease = await cache.lease("key", { durationMs: 60_000 });
  await engine.kill();
  await lease?.release();
});

it("an outage of Redis makes limits local until it ends", async () => {
  const limiterOf = (each: Cache) =>
    createRateLimiter({ cache: each, clock: context.clock, policy: { name: "api", limit: 10, windowMs: 60_000 } });
  const other = await openCache({ url: engine.url, ...context, commandTimeoutMs });
  const [first, second] = [limiterOf(cache), limiterOf(other)];
  await engine.kill();
  await eventually(() => cache.state === "away" && other.state === "away");
  const alone = Array.from({ length: 15 }, () => first.take("caller").allowed);
  assert.equal(alone.filter(Boolean).length, 10, "the limit counts for the instance by itself");
  assert.equal(second.take("caller").allowed, true);
  await engine.restart();
  await eventually(() => cache.state === "up" && other.state === "up");
  first.take("shared");
  await eventually(() => {
    for (let turn = 0; turn < 10; turn++) first.take("shared");
    return !first.take("shared").allowed;
  });
  second.take("shared"); // fetches
  await eventually(() => !second.take("shared").allowed, { message: "the other instance sees that nothing is left" });
});

it("a cache opened while Redis is away comes up with it", async () => {
  await engine.kill();
  const late = await openCache({ url: engine.url, ...context, commandTimeoutMs });
  assert.equal(late.state, "away");
  assert.equal(await late.get("key"), null);
  await engine.restart();
  await eventually(() => late.state === "up");
  assert.deepEqual(
    context.logged
      .map((line) => line.msg)
      .filter((message) => /^Redis is/.test(String(message)))
      .slice(-1),
    ["Redis is available again"],
  );
});

it("counts the calls during an outage", async () => {
  await engine.kill();
  await eventually(() => cache.state === "away");
  await cache.get("key");
  assert.match(await context.metrics.text(), /signalbox_cache_calls_total.*"get".*"away".* 1/);
});
