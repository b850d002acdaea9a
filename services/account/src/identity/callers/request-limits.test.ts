import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { createManualClock, minutes } from "@signalbox/core";
import { loadConfiguration } from "@signalbox/runtime";
import { createRateLimiters } from "@signalbox/storage";
import { properties } from "../../properties.ts";
import { RequestLimits } from "./callers.ts";

const required = {
  "cache.url": "memory:",
  "database.url": "postgres://127.0.0.1/x",
  "events.url": "postgres://127.0.0.1/x",
  "internal.token": "internal-token-of-the-account-tests-01",
  "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
};

function arrange() {
  const clock = createManualClock();
  const limiters = createRateLimiters(clock);
  const argv = Object.entries(required).map(([name, value]) => `--${name}=${value}`);
  const configuration = loadConfiguration({ service: "account", properties, argv, environment: {}, directory: null });
  const from = (address: string) => {
    const request = new IncomingMessage(new Socket());
    request.headers["x-from"] = address;
    return request;
  };
  const limits = new RequestLimits({
    configuration,
    limiterOf: (policy) => limiters(policy, { takeShares: async () => null }),
    clientAddress: ({ headers }) => String(headers["x-from"]),
    knownBrowser: ({ headers }) => (headers["x-browser"] ? { id: "known", knows: () => true } : null),
  });
  return { clock, limits, from, here: from("198.51.100.1") };
}

test("a thousand sign-ins and ten thousand token requests of one address in ten minutes are none too many", () => {
  const { clock, limits, here } = arrange();
  let counted = 0;
  let refused = 0;
  const count = ({ allowed }: { allowed: boolean }) => {
    counted++;
    if (!allowed) refused++;
  };
  for (let signIn = 0; signIn < 1_000; signIn++) {
    count(limits.start(here, "console"));
    for (let page = 0; page < 8; page++) count(limits.signIn(`sign-in ${signIn}`));
    count(limits.page(here));
    for (let token = 0; token < 5; token++) count(limits.client("cli_1"));
    for (let token = 0; token < 5; token++) count(limits.application(here, "console") ?? { allowed: false });
    clock.advance(minutes(10) / 1_000);
  }
  assert.deepEqual([counted, refused], [20_000, 0]);
});

test("a client has 600 requests in ten seconds, wherever they come from", () => {
  const { limits } = arrange();
  const taken = Array.from({ length: 601 }, () => limits.client("cli_1").allowed);
  assert.equal(taken.indexOf(false), 600);
  assert.equal(limits.client("cli_2").allowed, true);
});

test("requests that name an application use up the allowance of their own address only", () => {
  const { limits, from, here } = arrange();
  const taken = Array.from({ length: 601 }, () => limits.application(here, "console")?.allowed);
  assert.equal(taken.indexOf(false), 600);
  assert.equal(limits.application(from("198.51.100.2"), "console")?.allowed, true);
  assert.equal(limits.application(here, null), null);
});

test("sign-ins started by strangers do not block a browser that has signed in before", () => {
  const { limits, here } = arrange();
  const taken = Array.from({ length: 3_001 }, () => limits.start(here, "console").allowed);
  assert.equal(taken.indexOf(false), 3_000);
  here.headers["x-browser"] = "1";
  assert.equal(limits.start(here, "console").allowed, true);
});

test("failures of unknown clients count by address", () => {
  const { limits, from, here } = arrange();
  const taken = Array.from({ length: 31 }, (_, at) => limits.failure(from(`198.51.100.${at}`), "cli_1").allowed);
  assert.equal(taken.indexOf(false), 30, "from wherever the secret of one client is guessed");
  const unknown = Array.from({ length: 31 }, () => limits.failure(here, null).allowed);
  assert.equal(unknown.indexOf(false), 30);
  assert.equal(limits.failure(from("198.51.100.2"), null).allowed, true);
});
