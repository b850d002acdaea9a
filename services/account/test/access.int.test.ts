import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AccountState } from "@signalbox/contracts";
import { createManualClock, hours } from "@signalbox/core";
import { createOutbox, openEventLog } from "@signalbox/events";
import { createMetrics, createTracer } from "@signalbox/runtime";
import { inTransaction, openPool, type Pool, sql } from "@signalbox/storage";
import { createTcpProxy, eventually, serviceWith } from "@signalbox/testing";
import { announceAccess, hasUnannouncedAccess, repeatAccess } from "../src/access/access-announcements.ts";
import type { AccountService } from "../src/context/account-service.ts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let pool: Pool;
let service: AccountService;
let administrator: Record<string, string>;
/** Subjects whose tombstones are on the state topic. */
const tombstones: string[] = [];
const clock = createManualClock(new Date());

before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
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
  service = serviceWith<AccountService>({ pool, outbox: createOutbox(parts), clock, accessStates: undefined });
  const eventLog = await openEventLog(configuration.get("events.url"), { ...account.context, clientId: "tombstones" });
  await eventLog.broadcast({
    service: "access-tests",
    instance: account.context.instance,
    topics: ["signalbox.access.v1"],
    from: "start",
    onRecord: ({ key, value }) => {
      if (value === null) tombstones.push(key);
    },
  });
});
after(() => account.close());

/** The relay does not publish a shard that another holder has locked. */
const holdAllShards = sql("", "select pg_advisory_xact_lock(4201, shard) from generate_series(0, 7) as shard");

const path = "/api/account/";
/** Changes the status of an account as an administrator. */
async function move(id: string, status: AccountState): Promise<void> {
  const body = { status, reason: "x" };
  const answer = await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
  assert.equal(answer.status, 200);
}

const rename = async (headers: Record<string, string>, harness = account) =>
  (await harness.send("PATCH", path, { headers, body: { display_name: "Eve" } })).status;

for (const state of ["suspended", "disabled", "deleted"] as const) {
  test(`${state}: in force in every service within two seconds, for tokens and keys that are still good`, async () => {
    const elsewhere = await startElsewhere(account);
    const headers = account.person();
    const { id } = (await account.send("GET", path, { headers })).body;
    const body = { name: "key", scopes: ["account:read", "account:write"] };
    const { key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
    const credentials = [headers, { "x-api-key": key }];
    for (const each of credentials) {
      assert.equal(await rename(each), 200);
      assert.equal(await elsewhere.may(each, "write"), "yes");
    }

    await move(id, state);
    const refusedEverywhere = async () => {
      for (const each of credentials) {
        if ((await rename(each)) !== 403 || (await elsewhere.may(each, "write")) !== `account_${state}`) return false;
      }
      return true;
    };
    await eventually(refusedEverywhere, { timeoutMs: 2000, message: "writes are refused in both services" });
    assert.equal(await elsewhere.may(headers, "read"), state === "suspended" ? "yes" : `account_${state}`);

    const later = await startElsewhere(account);
    assert.equal(await later.may(headers, "write"), `account_${state}`, "after a restart as well");
    await move(id, "active");
    const backEverywhere = async () =>
      (await rename(headers)) === 200 && (await elsewhere.may(headers, "write")) === "yes";
    await eventually(backEverywhere, { timeoutMs: 2000, message: "writes are back in both services" });
    await Promise.all([elsewhere.close(), later.close()]);
  });
}

test("a revoked key alone stops in every service within two seconds", async () => {
  const elsewhere = await startElsewhere(account);
  const headers = account.person();
  const make = async () => {
    const body = { name: "key", scopes: ["account:read"] };
    return (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  };
  const [revoked, kept] = [await make(), await make()];
  for (const { key } of [revoked, kept]) assert.equal(await elsewhere.may({ "x-api-key": key }, "read"), "yes");
  await account.send("DELETE", `/api/account/api-keys/${revoked.id}`, { headers });
  await eventually(async () => (await elsewhere.may({ "x-api-key": revoked.key }, "read")) === "unauthorized", {
    timeoutMs: 2000,
  });
  assert.equal(await elsewhere.may({ "x-api-key": kept.key }, "read"), "yes");
  await elsewhere.close();
});

test("while the log is down a revoked key still stops in every service: account is asked again", async (t) => {
  const proxy = await createTcpProxy({ port: Number(new URL(account.context.configuration.get("events.url")).port) });
  t.after(proxy.close);
  const elsewhere = await startElsewhere(account, { eventsUrl: proxy.urlFor });
  t.after(elsewhere.close);
  const headers = account.person();
  const body = { name: "key", scopes: ["account:read"] };
  const { id, key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  assert.equal(await elsewhere.may({ "x-api-key": key }, "read"), "yes");
  await proxy.refuse();
  await account.send("DELETE", `/api/account/api-keys/${id}`, { headers });
  await eventually(async () => (await elsewhere.may({ "x-api-key": key }, "read")) === "unauthorized");
  assert.equal(elsewhere.accessStates.isRevoked(id), false, "the log has not told it");
});

test("while account cannot publish to a readable log a revoked key still stops", async (t) => {
  const elsewhere = await startElsewhere(account);
  t.after(elsewhere.close);
  const headers = account.person();
  const body = { name: "key", scopes: ["account:read"] };
  const { id, key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  assert.equal(await elsewhere.may({ "x-api-key": key }, "read"), "yes");
  await inTransaction(pool, async (tx) => {
    await tx.query(holdAllShards, []);
    await account.send("DELETE", `/api/account/api-keys/${id}`, { headers });
    await eventually(async () => (await elsewhere.may({ "x-api-key": key }, "read")) === "unauthorized");
    assert.equal(elsewhere.accessStates.isRevoked(id), false, "the log has not told it");
    assert.equal(await hasUnannouncedAccess(pool), true);
  });
  await eventually(() => elsewhere.accessStates.isRevoked(id));
  assert.equal(await hasUnannouncedAccess(pool), false);
});

test("another instance of this service that starts later knows what was said before", async () => {
  const headers = account.person();
  const { id } = (await account.send("GET", path, { headers })).body;
  await move(id, "suspended");
  const { configuration } = account.context;
  const second = await startAccount({
    "database.url": configuration.get("database.url"),
    "events.url": configuration.get("events.url"),
    "auth.issuers": configuration.get("auth.issuers"),
  });
  assert.equal(await rename(headers, second), 403);
  await second.close();
});

/** Publishes on the state topic by the clock of this test. */
const announce = (id: string, state: AccountState, epoch: number) =>
  inTransaction(pool, (tx) => announceAccess(service, tx, { kind: "account", id, accountId: id, state, epoch }));

test("only live entries are repeated after an hour", async () => {
  const [suspended, active] = await Promise.all(
    [account.person(), account.person()].map(async (headers) => (await account.send("GET", path, { headers })).body.id),
  );
  await announce(suspended, "suspended", 1);
  await announce(active, "suspended", 1);
  await announce(active, "active", 2);
  const saidOf = async (id: string, count: number) => (await account.eventsOf(id, count, "access.changed")).length;

  clock.advance(hours(1) - 1);
  await repeatAccess(service);
  assert.equal(await saidOf(suspended, 1), 1, "not before the hour");
  clock.advance(1);
  const counts = await Promise.all([repeatAccess(service), repeatAccess(service), repeatAccess(service)]);
  assert.ok(counts.reduce((sum, count) => sum + count, 0) >= 2);
  assert.equal(await saidOf(suspended, 2), 2);
  assert.equal(await saidOf(active, 3), 3, "a change is repeated for a week");

  clock.advance(hours(24 * 7));
  await repeatAccess(service);
  assert.equal(await saidOf(suspended, 3), 3, "a blocked account is live for as long as it is blocked");
  assert.equal(await saidOf(active, 3), 3);
  const { rows } = await pool.query<{ id: string }>(
    sql("", `select account_id as id from access_entries where account_id = any ($1)`),
    [[suspended, active]],
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    [suspended],
    "what is over is forgotten",
  );
  await eventually(() => tombstones.includes(`account:${active}`));
  assert.ok(!tombstones.includes(`account:${suspended}`));
});
