import { after, before } from "node:test";
import { testContext, testRedis } from "@signalbox/testing";
import { cacheContract } from "./cache.contract.ts";
import type { Cache } from "./cache.ts";
import { openCache } from "./open-cache.ts";

const context = testContext("images", {});
let memory: Cache;
let redis: Cache;
let otherRedis: Cache;

before(async () => {
  memory = await openCache({ url: "memory:", ...context });
  const { url } = await testRedis();
  redis = await openCache({ url, ...context, commandTimeoutMs: 5_000 });
  otherRedis = await openCache({ url, ...context, commandTimeoutMs: 5_000 });
});
after(context.close);

cacheContract("memory", () => ({ cache: memory, other: memory }));
cacheContract("Redis", () => ({ cache: redis, other: otherRedis }));
