import { after, before } from "node:test";
import { testContext } from "@signalbox/testing";
import { cacheContract } from "./cache.contract.ts";
import type { Cache } from "./cache.ts";
import { openCache } from "./open-cache.ts";

const context = testContext("images", {});
let cache: Cache;
before(async () => {
  cache = await openCache({ url: "memory:", ...context });
});
after(context.close);

cacheContract("memory", () => ({ cache, other: cache }));
