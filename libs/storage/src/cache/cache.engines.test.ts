import { after, before } from "node:test";
import { testContext, testRedis } from "@signalbox/testing";
import { cacheContract } from "./cache.contract.ts";
import type { Cache } from "./cache.ts";
import { openCache } from "./open-cache.ts";

const context = testContext("images", {});
let cache: Cache;
let other: Cache;
before(async () => {
  const { url } = await testRedis();
  cache = await openCache({ url, ...context, commandTimeoutMs: 5_000 });
  other = await openCache({ url, ...context, commandTimeoutMs: 5_000 });
});
after(context.close);

cacheContract("Redis", () => ({ cache, other }));
