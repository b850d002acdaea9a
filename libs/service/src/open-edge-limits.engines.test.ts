import assert from "node:assert/strict";
import { type TestContext as Running, test } from "node:test";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties } from "@signalbox/storage/properties";
import { createTcpProxy, eventually, testContext, testRedis } from "@signalbox/testing";
import { openEdgeLimits } from "./open-edge-limits.ts";

const properties = { ...runtimeProperties, ...httpProperties, ...cacheProperties };
const soon = { expiresInMs: 60_000 };

type Overrides = { readonly [name: string]: string | number };

function open(t: Running, service: "images" | "account" | "config", overrides: Overrides) {
  const context = testContext(service, properties, overrides);
  t.after(context.close);
  return openEdgeLimits(context);
}

test("a Redis command has the configured time limit", async (t) => {
  const { url } = await testRedis();
  const proxy = await createTcpProxy({ port: Number(new URL(url).port) });
  t.after(() => proxy.close());
  const { cache } = await open(t, "images", { "cache.url": proxy.urlFor(url), "cache.command-timeout": 10_000 });
  proxy.setLatency(300);
  await cache.set("slow", "value", soon);
  assert.equal(String(await cache.get("slow")), "value");
  assert.equal(cache.state, "up");
});

test("processes share one allowance over Redis, failed sign-ins included, but not their cache keys", async (t) => {
  const { url } = await testRedis();
  const overrides = {
    "cache.url": url,
    "cache.command-timeout": 10_000,
    "http.rate-limit.credential.window": 3_600_000,
  };
  const names = ["images", "account", "config"] as const;
  const services = await Promise.all(names.map((name) => open(t, name, overrides)));
  for (const kind of ["credential", "failedSignIn"] as const) {
    const { limit } = services[0]?.rateLimits[kind].policy ?? { limit: 0 };
    let allowed = 0;
    const askAll = () => {
      const taken = services.map(({ rateLimits }) => rateLimits[kind].take("caller").allowed);
      allowed += taken.filter(Boolean).length;
      return !taken.includes(true);
    };
    await eventually(askAll, { message: `${kind}: all of it is used up` });
    // Each may be on credit for the requests during one answer of Redis, and may keep an unused block.
    const block = Math.ceil(limit / 20);
    assert.ok(allowed >= limit - services.length * block, `${allowed} of ${limit}`);
    assert.ok(allowed <= limit + services.length, `${allowed} of ${limit}`);
  }
  await services[0]?.cache.set("own", "mine", soon);
  assert.equal(await services[1]?.cache.get("own"), null);
});
