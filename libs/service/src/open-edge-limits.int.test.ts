import assert from "node:assert/strict";
import { type TestContext as Running, test } from "node:test";
import { cacheProperties } from "@signalbox/cache/properties";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { createTcpProxy, testContext, testRedis } from "@signalbox/testing";
import { openEdgeLimits } from "./open-edge-limits.ts";

const properties = { ...runtimeProperties, ...httpProperties, ...cacheProperties };
const soon = { expiresInMs: 60_000 };

async function openCache(t: Running, overrides: { readonly [name: string]: string | number }) {
  const context = testContext("images", properties, overrides);
  t.after(context.close);
  return (await openEdgeLimits(context)).cache;
}

test("a cache in memory keeps as many bytes as configured", async (t) => {
  const cache = await openCache(t, { "cache.url": "memory:", "cache.memory.bytes-max": 65_536 });
  for (const key of ["first", "second"]) await cache.set(key, Buffer.alloc(20_000), soon);
  assert.deepEqual([await cache.get("first"), (await cache.get("second"))?.length], [null, 20_000]);
});

test("a Redis command may take as long as configured", async (t) => {
  const { url } = await testRedis();
  const proxy = await createTcpProxy({ port: Number(new URL(url).port) });
  t.after(() => proxy.close());
  const cache = await openCache(t, { "cache.url": proxy.urlFor(url), "cache.command-timeout": 10_000 });
  proxy.setLatency(300);
  await cache.set("slow", "value", soon);
  assert.equal(String(await cache.get("slow")), "value");
  assert.equal(cache.state, "up");
});
