import assert from "node:assert/strict";
import test from "node:test";
import { createManualClock } from "@signalbox/core";
import { createRateLimiters, openCache } from "@signalbox/storage";
import { testContext } from "../../test/edge-fixture.ts";
import { createRateLimits } from "./rate-limits.ts";

async function limits(settings: readonly string[] = []) {
  const clock = createManualClock();
  const { context } = testContext(settings, clock);
  const runner = { defer: () => {}, worker: () => {}, onDrain: () => {}, stopping: new AbortController().signal };
  const cache = await openCache({ url: "memory:", runner, clock, log: context.log, metrics: context.metrics });
  const limiters = createRateLimiters(clock);
  const policies = [{ name: "special", limit: 5, windowMs: 1_000 }];
  return { clock, limits: createRateLimits({ context, limiterOf: (policy) => limiters(policy, cache), policies }) };
}

test("the default allowances match the contract", async () => {
  const { credential, credentialBurst, account, anonymous, failedSignIn, named } = (await limits()).limits;
  const figures = [credential, credentialBurst, account, anonymous, failedSignIn, named.special].map((limiter) => [
    limiter?.policy.limit,
    limiter?.policy.windowMs,
  ]);
  assert.deepEqual(figures, [
    [600, 10_000],
    [200, 1_000],
    [1_800, 10_000],
    [120, 60_000],
    [30, 60_000],
    [5, 1_000],
  ]);
});

test("a raised allowance raises the burst with it, unless the burst is set", async () => {
  const raised = await limits(["--http.rate-limit.credential.requests=3000"]);
  assert.equal(raised.limits.credentialBurst?.policy.limit, 1_000);
  const set = await limits(["--http.rate-limit.credential.burst=7"]);
  assert.equal(set.limits.credentialBurst?.policy.limit, 7);
});

test("requests beyond the allowance are refused until the next window", async () => {
  const { clock, limits: made } = await limits();
  const taken = Array.from({ length: 121 }, () => made.anonymous.take("198.51.100.1").allowed);
  assert.equal(taken.indexOf(false), 120);
  assert.equal(made.anonymous.take("198.51.100.2").allowed, true);
  clock.advance(60_001);
  assert.equal(made.anonymous.take("198.51.100.1").allowed, true);
});
