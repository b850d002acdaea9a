import assert from "node:assert/strict";
import { it, test } from "node:test";
import { createManualClock, type ManualClock } from "@signalbox/core";
import type { Cache } from "./cache.ts";
import { createMemoryCache } from "./memory-cache.ts";
import { createRateLimiter, createRateLimiters } from "./rate-limiter.ts";

const policy = { name: "api", limit: 100, windowMs: 60_000 };
const settled = () => new Promise(setImmediate);

function arrange(
  options: { cache?: Pick<Cache, "takeShares">; limit?: number; keysMax?: number; clock?: ManualClock } = {},
) {
  const clock = options.clock ?? createManualClock();
  const cache = options.cache ?? createMemoryCache({ bytesMax: 1_000_000, clock });
  const limiterOf = () =>
    createRateLimiter({
      cache,
      clock,
      policy: { ...policy, limit: options.limit ?? 100 },
      ...(options.keysMax && { keysMax: options.keysMax }),
    });
  return { clock, cache, limiter: limiterOf(), other: limiterOf() };
}

it("allows exactly the limit in a window, as its header values say", async () => {
  const { limiter, clock } = arrange({ limit: 3 });
  assert.deepEqual(limiter.take("a"), { allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
  await settled();
  clock.advance(20_500);
  assert.deepEqual(limiter.take("a"), { allowed: true, limit: 3, remaining: 1, resetSeconds: 40 });
  await settled();
  assert.equal(limiter.take("a").remaining, 0);
  await settled();
  assert.deepEqual(limiter.take("a"), { allowed: false, limit: 3, remaining: 0, resetSeconds: 40 });
});

it("allows again in the next window", async () => {
  const { limiter, clock } = arrange({ limit: 1 });
  limiter.take("a");
  await settled();
  assert.equal(limiter.take("a").allowed, false);
  clock.advance(60_000);
  assert.equal(limiter.take("a").allowed, true);
});

it("gives back what was taken, never more", () => {
  const { limiter } = arrange({ limit: 10 });
  limiter.take("a", 8);
  assert.equal(limiter.take("a", -6).remaining, 8);
  assert.equal(limiter.take("a", -6).remaining, 10);
});

it("counts a burst before the first answer: never more than the limit for one instance", () => {
  const { limiter } = arrange({ limit: 10 });
  const allowed = Array.from({ length: 50 }, () => limiter.take("a").allowed);
  assert.equal(allowed.filter(Boolean).length, 10);
});

it("two instances share one limit", async () => {
  const { limiter, other } = arrange({ limit: 100 });
  let allowed = 0;
  for (let turn = 0; turn < 200; turn++) {
    if ((turn % 2 ? limiter : other).take("a").allowed) allowed++;
    await settled();
  }
  assert.ok(allowed <= 100, `${allowed} are not more than the limit`);
  assert.ok(allowed >= 95, `${allowed}: an instance holds back at most a block`);
});

it("reads the cache once for many requests", async () => {
  let asked = 0;
  const { cache } = arrange();
  const counting = {
    takeShares: (...given: Parameters<Cache["takeShares"]>) => {
      asked++;
      return cache.takeShares(...given);
    },
  };
  const { limiter } = arrange({ cache: counting, limit: 10_000 });
  for (let turn = 0; turn < 5_000; turn++) {
    limiter.take("a");
    await settled();
  }
  assert.ok(asked <= 25, `${asked} reads for 5,000 requests`);
});

it("weighs requests by cost, refused ones at nothing", async () => {
  const { limiter } = arrange({ limit: 10 });
  assert.equal(limiter.take("a", 8).allowed, true);
  await settled();
  assert.equal(limiter.take("a", 3).allowed, false);
  assert.equal(limiter.take("a", 2).allowed, true);
});

it("keys are independent", () => {
  const { limiter } = arrange({ limit: 1 });
  assert.deepEqual([limiter.take("a").allowed, limiter.take("b").allowed], [true, true]);
});

it("limits locally while the cache is away, retrying only rarely", async () => {
  let asked = 0;
  const away = {
    takeShares: async () => {
      asked++;
      return null;
    },
  };
  const { limiter, clock } = arrange({ cache: away, limit: 1_000 });
  for (let turn = 0; turn < 100; turn++) {
    assert.equal(limiter.take("a").allowed, true);
    await settled();
  }
  assert.equal(asked, 1);
  clock.advance(1_000);
  limiter.take("a");
  assert.equal(asked, 2);
});

it("charges locally allowed requests once the cache is back", async () => {
  const clock = createManualClock();
  const shared = createMemoryCache({ bytesMax: 1_000_000, clock });
  let away = true;
  const cache = {
    takeShares: async (...given: Parameters<Cache["takeShares"]>) => (away ? null : shared.takeShares(...given)),
  };
  const { limiter, other } = arrange({ cache, limit: 10, clock });
  for (let turn = 0; turn < 10; turn++) limiter.take("a");
  await settled();
  away = false;
  clock.advance(1_000);
  limiter.take("a");
  await settled();
  other.take("a"); // on credit, until the answer
  await settled();
  assert.equal(other.take("a").allowed, false);
});

it("holds a bounded number of keys", () => {
  const { limiter } = arrange({ limit: 1, keysMax: 100 });
  for (let key = 0; key < 1_000; key++) limiter.take(`key ${key}`);
  assert.equal(limiter.take("key 999").allowed, false, "the youngest are known");
  assert.equal(limiter.take("key 0").allowed, true, "the oldest are forgotten here");
});

test("services of a process share one allowance, whatever their caches or limits", async () => {
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
