import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { openPool, sql } from "@signalbox/storage";
import {
  createTcpProxy,
  eventually,
  readStream,
  type StreamReader,
  type TestPerson,
  testDatabase,
  testEventLog,
  testPerson,
} from "@signalbox/testing";
import { type Harness, setProperty, startConfig } from "./harness.ts";

let config: Harness;
const opened: StreamReader[] = [];
const operator = testPerson();
const account = testPerson({ scopes: ["account:read"] });
before(async () => {
  config = await startConfig({ "config.streams.max": 40 });
});
after(async () => {
  for (const each of opened) each.close();
  await config.close();
});

async function follow(who: TestPerson | null = account, headers: Record<string, string> = {}, on = config) {
  const stream = await readStream(`${on.url}/api/v1/config/stream`, { ...who?.headers, ...headers });
  opened.push(stream);
  return stream;
}
const revisionOf = async (name: string): Promise<string> => {
  const { data } = await config.graphql(operator, "{ properties { name overrides { name revision } } }");
  const all = data.properties.flatMap((each: { overrides: { name: string }[] }) => each.overrides);
  return all.find((each: { name: string }) => each.name === name)?.revision ?? "0";
};
async function set(name: string, value: unknown): Promise<string> {
  const input = { name, value, expectedRevision: await revisionOf(name) };
  const { data } = await config.graphql(operator, setProperty, { input });
  assert.deepEqual(data.setProperty.errors, []);
  return data.setProperty.override.revision;
}
async function setFlag(key: string, rules: object[], expectedRevision = "0"): Promise<string> {
  const variants = [
    { name: "on", value: true },
    { name: "off", value: false },
  ];
  const basis = { key, state: "enabled", type: "boolean", variants, default: "off", off: "off", owner: "tests" };
  const input = { ...basis, rules, expectedRevision, reason: "test" };
  const query = "mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } errors { message } } }";
  return (await config.graphql(operator, query, { input })).data.setFlag.flag.revision;
}
const seen = (stream: StreamReader, count: number, name?: string) =>
  eventually(() => {
    const events = stream.events.filter(({ data, event }) => data !== null && (name === undefined || event === name));
    return events.length >= count && events;
  });

test("a change is sent to everyone with its revision, its names and the values of their audience", async () => {
  const [own, admin] = [await follow(), await follow(operator)];
  assert.equal(own.status, 200);
  assert.equal(own.headers.get("cache-control"), "no-store");
  const revision = await set("limits.maxPageSize", 70);
  for (const stream of [own, admin]) {
    const [first, second] = await seen(stream, 2);
    const config = { revision, names: ["limits.maxPageSize"], values: { "limits.maxPageSize": 70 } };
    const settings = { revision, names: ["limits.pageSize"], values: { "limits.pageSize": 70 } };
    assert.deepEqual(first, { event: "config", id: undefined, data: config });
    assert.deepEqual(second, { event: "settings", id: revision, data: settings });
  }
  const internal = await set("http.rate-limit.credential.requests", 500);
  const [, , third] = await seen(admin, 3);
  assert.deepEqual(third?.data.names, ["http.rate-limit.credential.requests"]);
  await eventually(() => own.events.at(-1)?.id === internal);
  assert.deepEqual(own.events.at(-1)?.data, null, "an account sees that the revision passed, and nothing of it");
});

test("a changed flag is sent with the follower's value, and OpenFeature is asked to read again", async () => {
  const [own, other] = [await follow(), await follow(operator)];
  const revision = await setFlag("mine", [{ accounts: [account.accountId], variant: "on" }]);
  for (const [stream, value] of [
    [own, true],
    [other, false],
  ] as const) {
    const [flags, message] = await seen(stream, 2);
    assert.deepEqual([flags?.event, flags?.data.names, flags?.data.values.mine.value], ["flags", ["mine"], value]);
    assert.deepEqual(message, { event: "message", id: revision, data: { type: "refetchEvaluation" } });
  }
});

test("a returning client gets every missed revision, once and in order, and then the new ones", async () => {
  const from = await set("server.name", "One");
  const missed = [await set("server.color", "#111111"), await set("server.name", "Two"), await setFlag("missed", [])];
  const stream = await follow(account, { "last-event-id": from });
  const next = await set("server.name", "Three");
  await eventually(() => stream.events.at(-1)?.id === next);
  const ids = stream.events.flatMap(({ id, data }) => (id === undefined || data === null ? [] : [id]));
  assert.deepEqual(ids, [...missed, next]);
  const { names, values } = stream.events.find(({ data }) => data?.names?.includes("server.color"))?.data ?? {};
  assert.deepEqual([names, values], [["server.color"], { "server.color": "#111111" }]);
});

test("an expired history or an unassigned revision is a reset; a malformed revision is refused", async () => {
  const pool = openPool({ ...config.context, url: config.databaseUrl, max: 1, applicationName: "config-tests" });
  const old = await set("server.name", "Old");
  const next = await set("server.name", "Older");
  await eventually(async () => (await config.send(operator, "/api/v1/status/config")).body.revision === next);
  await pool.query(sql("test.old", "update property_revisions set changed_at = now() - interval '31 days'"));
  await pool.query(sql("test.old-flags", "update flag_revisions set changed_at = now() - interval '31 days'"));
  for (const last of [old, "0", "999999"]) {
    const stream = await follow(account, { "last-event-id": last });
    const [reset] = await seen(stream, 1);
    assert.deepEqual([reset?.event, reset?.data.revision], ["reset", next], last);
  }
  const current = await follow(account, { "last-event-id": next });
  assert.equal((await eventually(() => current.events.at(-1) ?? null))?.data, null, "nothing was missed");
  for (const last of ["x", "-1", "1.5", "1".repeat(16), "1, 2"]) {
    assert.equal((await follow(account, { "last-event-id": last })).status, 400, last);
  }
});

test("without the database a returning client reads everything again", async () => {
  const own = await startConfig();
  try {
    const pool = openPool({ ...own.context, url: own.databaseUrl, max: 1, applicationName: "config-tests" });
    const input = { name: "server.name", value: "One", expectedRevision: "0" };
    await own.graphql(operator, setProperty, { input });
    await eventually(async () => (await own.send(null, "/api/v2/settings/")).body.server.name === "One");
    await pool.query(sql("test.away", "alter table property_revisions rename to property_revisions_away"));
    const stream = await follow(account, { "last-event-id": "0" }, own);
    assert.equal((await seen(stream, 1))[0]?.event, "reset");
    stream.close();
  } finally {
    await own.close();
  }
});

test("streams need a credential with access, in a header only", async () => {
  assert.equal((await follow(null)).status, 401);
  assert.equal((await follow(testPerson({ state: "suspended" }))).status, 403);
  const url = `${config.url}/api/v1/config/stream`;
  assert.equal((await readStream(`${url}?access_token=x`, {})).status, 400);
  assert.equal((await readStream(`${url}?anything=x`, { ...account.headers })).status, 400);
  assert.equal((await config.send(account, "/api/v1/config/stream", { method: "POST" })).status, 405);
  assert.equal((await config.send(account, "/api/v1/config/stream", { method: "HEAD" })).status, 200);
});

test("a stream ends when its credential expires", async () => {
  const stream = await follow(testPerson({ expiresAtMs: Date.now() + 1_500 }));
  const [end] = await seen(stream, 1, "end");
  assert.deepEqual(end?.data, { reason: "expired" });
  await stream.ended;
});

test("a stream ends when its account is suspended or its credential revoked, and others continue", async () => {
  const eventLog = await testEventLog(config.eventsUrl, config.context);
  const [one, two] = [testPerson(), testPerson()];
  const [suspended, revoked, other] = [await follow(one), await follow(two), await follow()];
  const change = async (kind: "account" | "token", id: string, state: string) => {
    const data = {
      ...eventOf("access.changed").example,
      kind,
      id,
      account_id: one.accountId,
      state,
      epoch: 9,
    } as never;
    const subject = `${kind}:${id}`;
    const event = draft("access.changed", { subject, accountId: one.accountId, data });
    await publishEvents({ ...config.context, eventLog }, [event]);
  };
  await change("account", one.accountId, "suspended");
  await change("token", two.principal.credential.id, "revoked");
  for (const stream of [suspended, revoked]) {
    assert.deepEqual((await seen(stream, 1, "end"))[0]?.data, { reason: "access_changed" });
    await stream.ended;
  }
  await set("server.name", `Still ${Date.now()}`);
  await seen(other, 1, "settings");
});

/** Lets account deny the access of followers, and waits for the end of their streams. */
async function endsByAsking(on: Harness): Promise<void> {
  const [one, two] = [testPerson(), testPerson()];
  const [suspended, again, revoked, other] = [
    ...[await follow(one, {}, on), await follow(one, {}, on)],
    ...[await follow(two, {}, on), await follow(account, {}, on)],
  ] as const;
  on.account.now.set(one.accountId, "suspended").set(two.accountId, "unauthorized");
  for (const stream of [suspended, again, revoked]) {
    assert.deepEqual((await seen(stream, 1, "end"))[0]?.data, { reason: "access_changed" });
    await stream.ended;
  }
  on.account.away = true;
  const { asked } = on.account;
  await eventually(() => on.account.asked >= asked + 2);
  assert.ok(!other.events.some(({ event }) => event === "end"), "the access of the other one cannot be denied");
}

test("a suspension or revocation that the access topic lacks ends a stream, because account is asked", async () => {
  const own = await startConfig();
  try {
    own.account.unannounced = true;
    await endsByAsking(own);
  } finally {
    await own.close();
  }
});

test("a suspension or revocation ends a stream also while the log is away", async () => {
  const events = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(events.url).port) });
  const own = await startConfig({ "events.url": proxy.urlFor(events.url) });
  try {
    await proxy.refuse();
    await endsByAsking(own);
  } finally {
    await proxy.accept();
    await own.close();
    await proxy.close();
    await events.close();
  }
});

test("a stream whose access changed while it was opened ends immediately", async () => {
  const person = testPerson();
  const opening = Array.from({ length: 5 }, () => follow(person));
  const eventLog = await testEventLog(config.eventsUrl, config.context);
  const data = {
    ...eventOf("access.changed").example,
    kind: "account",
    id: person.accountId,
    account_id: person.accountId,
    state: "suspended",
    epoch: 9,
  } as never;
  const subject = `account:${person.accountId}`;
  await publishEvents({ ...config.context, eventLog }, [
    draft("access.changed", { subject, accountId: person.accountId, data }),
  ]);
  for (const stream of await Promise.all(opening)) {
    if (stream.status !== 403) assert.deepEqual((await seen(stream, 1, "end"))[0]?.data, { reason: "access_changed" });
  }
});

test("a credential may have ten streams, an instance the configured number, and closed ones no longer count", async () => {
  const greedy = testPerson();
  const ten = await Promise.all(Array.from({ length: 10 }, () => follow(greedy)));
  assert.deepEqual([...new Set(ten.map(({ status }) => status))], [200]);
  const refused = await follow(greedy);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "10"]);
  const many = await Promise.all(Array.from({ length: 40 }, () => follow(testPerson())));
  const full = many.find(({ status }) => status !== 200);
  assert.deepEqual([full?.status, full?.headers.get("retry-after")], [503, "10"]);
  for (const stream of [...ten, ...many]) stream.close();
  await eventually(async () => (await follow(greedy)).status === 200);
});

test("a disabled stream ends, and none is opened", async () => {
  const stream = await follow();
  await set("capabilities.configStream", false);
  assert.deepEqual((await seen(stream, 1, "end"))[0]?.data, { reason: "switched_off" });
  assert.equal((await follow()).status, 403);
  await set("capabilities.configStream", true);
  await eventually(async () => (await follow()).status === 200);
});
