import assert from "node:assert/strict";
import { type TestContext as Running, test } from "node:test";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties } from "@signalbox/storage/properties";
import { testContext } from "@signalbox/testing";
import { failureCounter, openEdgeLimits } from "./open-edge-limits.ts";

const properties = { ...runtimeProperties, ...httpProperties, ...cacheProperties };
const soon = { expiresInMs: 60_000 };

type Overrides = { readonly [name: string]: string | number };

function open(t: Running, service: "images" | "account" | "config", overrides: Overrides) {
  const context = testContext(service, properties, overrides);
  t.after(context.close);
  return openEdgeLimits(context);
}

const openCache = async (t: Running, overrides: Overrides) => (await open(t, "images", overrides)).cache;

test("a cache in memory keeps the configured number of bytes", async (t) => {
  const cache = await openCache(t, { "cache.url": "memory:", "cache.memory.bytes-max": 65_536 });
  for (const key of ["first", "second"]) await cache.set(key, Buffer.alloc(20_000), soon);
  assert.deepEqual([await cache.get("first"), (await cache.get("second"))?.length], [null, 20_000]);
});

test("wrong credentials outside the edge count against the edge's allowance of their address", async (t) => {
  const { rateLimits } = await open(t, "account", {
    "cache.url": "memory:",
    "http.rate-limit.failed-sign-in.requests": 3,
  });
  const count = failureCounter(rateLimits);
  count("192.0.2.1");
  rateLimits.failedSignIn.take("192.0.2.1");
  count("192.0.2.1");
  assert.throws(() => count("192.0.2.1"), { code: "rate_limited" });
  count("192.0.2.2");
});
