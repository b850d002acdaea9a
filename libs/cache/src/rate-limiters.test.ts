import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createMemoryCache } from "./memory-cache.ts";
import { createRateLimiters } from "./rate-limiters.ts";

const settled = () => new Promise(setImmediate);

test("services of a process share one allowance, with a cache of their own each and limits that differ", async () => {
  const clock = createManualClock();
  const limiters = createRateLimiters(clock);
  const ofService = (limit: number) =>
    limiters({ name: "api", limit, windowMs: 60_000 }, createMemoryCache({ bytesMax: 1_000_000, clock }));
  const alike = Array.from({ length: 5 }, () => ofService(100));
  const allowed: boolean[] = [];
  for (let turn = 0; turn < 150; turn++) {
    allowed.push(alike[turn % alike.length]?.take("caller").allowed ?? false);
    await settled();
  }
  assert.deepEqual([allowed.filter(Boolean).length, allowed.indexOf(false)], [100, 100]);

  const larger = ofService(120);
  larger.take("caller"); // fetches
  await settled();
  assert.ok(larger.take("caller").remaining < 20, "a service with another limit counts the others' requests");
});
