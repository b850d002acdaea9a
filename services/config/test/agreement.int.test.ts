import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scopesOfRole } from "@signalbox/contracts";
import { createManualClock, minutes } from "@signalbox/core";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startConfig } from "./harness.ts";

let config: Harness;
const clock = createManualClock(new Date());
const operator = testPerson();
before(async () => {
  config = await startConfig({}, clock);
  await eventually(async () => (await statusNow()).services.length === 1);
});
after(() => config.close());

const statusNow = async () => (await config.send(operator, "/api/v1/status/config")).body;
const configNow = async () => (await config.send(operator, "/api/v1/config/")).body;

test("while instances disagree the strictest is shown, and the status names the differences", async () => {
  assert.deepEqual((await statusNow()).validation, { valid: true, problems: [] });
  const published = {
    "limits.maxPageSize": 50,
    "limits.maxUploadBytes": 90_000_000,
    "capabilities.imageImport": false,
    "features.integrations": "preview",
    "supported.locales": ["de", "en"],
  };
  await config.report({ instance: "images-old", revision: 3, published });
  const status = await eventually(async () => {
    const now = await statusNow();
    return now.services.length === 2 && now;
  });
  assert.equal(status.status, "degraded");
  assert.equal(status.validation.valid, false);
  for (const name of Object.keys(published)) {
    assert.ok(status.validation.problems.includes(`${name}: the instances run with different values`), name);
  }
  assert.deepEqual(
    status.services.find(({ instance }: { instance: string }) => instance === "images-old"),
    {
      name: "images",
      instance: "images-old",
      revision: "3",
      lag_seconds: 0,
      last_seen_seconds: 0,
      applied_at: clock.now().toISOString(),
    },
  );
  const { limits, capabilities, features, supported } = await configNow();
  assert.deepEqual([limits.maxPageSize, limits.maxUploadBytes], [50, 20 * 1024 * 1024]);
  assert.deepEqual([capabilities.imageImport, features.integrations], [false, "disabled"]);
  assert.deepEqual(supported.locales, ["en", "de"]);
  assert.equal((await config.send(operator, "/api/v1/env/")).body.status, "degraded");
});

test("a looser instance degrades the status too, although no shown value changes", async () => {
  clock.advance(minutes(4));
  await config.report({ instance: "images-loose", published: { "limits.maxPageSize": 500 } });
  const status = await eventually(async () => {
    const now = await statusNow();
    return now.services.some(({ instance }: { instance: string }) => instance === "images-loose") && now;
  });
  assert.deepEqual(status.validation.problems, ["limits.maxPageSize: the instances run with different values"]);
  assert.equal((await configNow()).limits.maxPageSize, 100);
});

test("a stopped instance delays the others for three minutes and no longer", async () => {
  clock.advance(minutes(4));
  await config.report({ instance: "images-gone", published: { "limits.maxPageSize": 10 } });
  await eventually(async () => (await configNow()).limits.maxPageSize === 10);
  clock.advance(minutes(3));
  const waiting = await statusNow();
  assert.equal((await configNow()).limits.maxPageSize, 10);
  const gone = waiting.services.find((one: { instance: string }) => one.instance === "images-gone");
  assert.equal(gone.last_seen_seconds, 180);
  clock.advance(1);
  assert.equal((await configNow()).limits.maxPageSize, 100);
  const status = await statusNow();
  assert.equal(status.status, "ok");
  assert.ok(!status.services.some(({ instance }: { instance: string }) => instance === "images-gone"));
});

test("an instance that repeats its report stays listed", async () => {
  const report = { instance: "images-steady", published: { "limits.maxPageSize": 20 } };
  await config.report(report);
  await eventually(async () => (await configNow()).limits.maxPageSize === 20);
  clock.advance(minutes(2));
  await config.report(report);
  await eventually(async () =>
    (await statusNow()).services.some(
      (one: { instance: string; last_seen_seconds: number }) =>
        one.instance === "images-steady" && one.last_seen_seconds === 0,
    ),
  );
  clock.advance(minutes(2));
  assert.equal((await configNow()).limits.maxPageSize, 20);
});

test("an instance lags for as long as it lacks a revision that another one has", async () => {
  clock.advance(minutes(4));
  const lagOf = async (instance: string) =>
    (await statusNow()).services.find((one: { instance: string }) => one.instance === instance);
  await config.report({ instance: "images-slow", revision: 20 });
  await eventually(async () => (await lagOf("images-slow")) ?? null);
  clock.advance(minutes(1));
  assert.equal((await lagOf("images-slow")).lag_seconds, 0, "an old report of the newest revision is no lag");
  await config.report({ instance: "images-quick", revision: 21 });
  await eventually(async () => (await lagOf("images-quick")) ?? null);
  clock.advance(30_000);
  await config.report({ instance: "images-quick", revision: 22 });
  await eventually(async () => (await lagOf("images-quick")).revision === "22");
  clock.advance(15_000);
  const [slow, quick] = [await lagOf("images-slow"), await lagOf("images-quick")];
  assert.deepEqual([slow.lag_seconds, slow.last_seen_seconds], [45, 105]);
  assert.deepEqual([quick.lag_seconds, quick.last_seen_seconds], [0, 15]);
});

test("the status shows refused values of an instance and those that wait for a restart", async () => {
  await config.report({
    service: "account",
    instance: "account-1",
    revision: 9,
    pending_restart: ["database.pool.max"],
    problems: ["account: defaults.locale must be a locale"],
  });
  const status = await eventually(async () => {
    const now = await statusNow();
    return now.pending_restart.length > 0 && now;
  });
  assert.deepEqual(status.pending_restart, ["database.pool.max"]);
  assert.ok(status.validation.problems.includes("account: defaults.locale must be a locale"));
  assert.equal(status.status, "degraded");
});

test("the status names properties to their audience alone", async () => {
  await config.report({
    service: "account",
    instance: "account-2",
    revision: 9,
    pending_restart: ["account.clients.max", "database.pool.max"],
    problems: ["account: database.pool.max must be a number"],
  });
  await eventually(async () => (await statusNow()).pending_restart.includes("account.clients.max"));
  const viewer = testPerson({ scopes: [...scopesOfRole("viewer")] });
  const { body } = await config.send(viewer, "/api/v1/status/config");
  assert.deepEqual(
    [body.pending_restart, body.validation, body.status],
    [["account.clients.max"], { valid: false, problems: [] }, "degraded"],
  );
});
