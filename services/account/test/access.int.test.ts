import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AccountState } from "@signalbox/contracts";
import { createManualClock, hours } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { inTransaction, openPool, type Pool, sql } from "@signalbox/storage";
import { createMetrics, createTracer } from "@signalbox/telemetry";
import { eventually } from "@signalbox/testing";
import { type AccessLog, createAccessLog } from "../src/access/access-log.ts";
import { createRepeatAccess } from "../src/access/repeat-access.ts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let pool: Pool;
let accessLog: AccessLog;
const clock = createManualClock(new Date());

before(async () => {
  account = await startAccount();
  const { log, configuration, runner } = account.context;
  const metrics = createMetrics({ service: "account" });
  pool = openPool({
    url: configuration.get("database.url"),
    max: 4,
    applicationName: "access-tests",
    log,
    metrics,
    runner,
  });
  const parts = { pool, service: "account", log, metrics, clock, tracer: createTracer("account"), maxBytes: 1_000_000 };
  accessLog = createAccessLog({ outbox: createOutbox(parts) });
});
after(() => account.close());

const path = "/api/account/";
const setState = sql("test.set-state", "update accounts set status = $2, access_epoch = $3 where id = $1");

/** What a change of state will do: row and announcement in one transaction. */
async function move(id: string, state: AccountState, epoch: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(setState, [id, state, epoch]);
    await accessLog.announce(tx, { kind: "account", id, accountId: id, state, epoch }, clock.now());
  });
}

const rename = (headers: Record<string, string>, harness = account) =>
  harness.send("PATCH", path, { headers, body: { display_name: "Eve" } });

test("a suspension holds within two seconds for a token that is still good, and so does its end", async () => {
  const headers = account.person();
  const { id } = (await account.send("GET", path, { headers })).body;
  await move(id, "suspended", 1);
  await eventually(async () => (await rename(headers)).status === 403, {
    timeoutMs: 2000,
    message: "writes are refused",
  });
  assert.equal((await account.send("GET", path, { headers })).status, 200);
  await move(id, "active", 2);
  await eventually(async () => (await rename(headers)).status === 200, { timeoutMs: 2000, message: "writes are back" });
});

test("each state leaves what the contract says of the own account", async () => {
  const claims = { sub: crypto.randomUUID() };
  const headers = account.person(claims);
  const { id } = (await account.send("GET", path, { headers })).body;
  const expected = { pending: [200, 200], suspended: [200, 403], disabled: [200, 403], deleted: [403, 403] } as const;
  for (const [epoch, [state, statuses]] of Object.entries(expected).entries()) {
    await move(id, state as AccountState, epoch + 1);
    await eventually(async () => {
      assert.equal((await account.send("GET", path, { headers })).status, statuses[0], `${state}: read`);
      assert.equal((await rename(headers)).status, statuses[1], `${state}: write`);
    });
  }
});

test("another instance that starts later knows what was said before", async () => {
  const headers = account.person();
  const { id } = (await account.send("GET", path, { headers })).body;
  await move(id, "suspended", 1);
  const { configuration } = account.context;
  const second = await startAccount({
    "database.url": configuration.get("database.url"),
    "events.url": configuration.get("events.url"),
    "auth.issuers": configuration.get("auth.issuers"),
  });
  assert.equal((await rename(headers, second)).status, 403);
  await second.close();
});

test("live entries are said again after an hour, once, and only they", async () => {
  const [suspended, active] = await Promise.all(
    [account.person(), account.person()].map(async (headers) => (await account.send("GET", path, { headers })).body.id),
  );
  await move(suspended, "suspended", 1);
  await move(active, "suspended", 1);
  await move(active, "active", 2);
  const repeatAccess = createRepeatAccess({ pool, accessLog, clock });
  const saidOf = async (id: string, count: number) =>
    (await account.eventsOf(id, count)).filter(({ name }) => name === "access.changed").length;

  clock.advance(hours(1) - 1);
  await repeatAccess();
  assert.equal(await saidOf(suspended, 2), 1, "not before the hour");
  clock.advance(1);
  const counts = await Promise.all([repeatAccess(), repeatAccess(), repeatAccess()]);
  assert.ok(counts.reduce((sum, count) => sum + count, 0) >= 2);
  assert.equal(await saidOf(suspended, 3), 2);
  assert.equal(await saidOf(active, 4), 3, "a change is repeated for a week");

  clock.advance(hours(24 * 7));
  await repeatAccess();
  assert.equal(await saidOf(suspended, 4), 3, "a blocked account is live for as long as it is blocked");
  assert.equal(await saidOf(active, 4), 3);
});
