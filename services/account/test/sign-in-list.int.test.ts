import assert from "node:assert/strict";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { encodePrincipal, principalHeader } from "@signalbox/http";
import { inTransaction, sql, startRetention } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import { eraseAccount } from "../src/deletion/account-purge.ts";
import { signInRetention } from "../src/sign-ins/sign-in-store.ts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";
import { bearer, issuer, startIssuer } from "./oauth-fixture.ts";
import { application, applications, createVisitor, passThrough, startSignIn } from "./oauth-visitor.ts";
import { rowsWith } from "./rows-with.ts";

const other = { client_id: "viewer", name: "Viewer", redirect_uris: ["https://viewer.example/back"] };
const clock = createManualClock(new Date());
let account: Harness;
let issuing: Harness;
before(async () => {
  const overrides = {
    "account.oauth.applications": JSON.stringify([...JSON.parse(applications), other]),
    "account.oauth.access-token-minutes": 60,
  };
  [account, issuing] = [await startAccount(), await startIssuer(overrides, { clock })];
});
after(() => Promise.all([account.close(), issuing.close()]));
// The provider signs by the machine's clock, and a token from the future is refused.
beforeEach(() => clock.set(new Date()));

type Headers = Record<string, string>;
interface SignIn {
  readonly id: string;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly browser: string | null;
  readonly address: string | null;
  readonly current: boolean;
}

const path = "/api/account/sign-ins/";
const scope = "openid offline_access account:read account:security";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.6 Safari/605.1.15";
const freshAddress = () => `${crypto.randomUUID()}@example.org`;

/** Signs in to an application with this browser and a code. */
async function signInWith(userAgent: string, address: string) {
  const visitor = createVisitor(issuing, { "user-agent": userAgent });
  const { configuration, url, finish } = await startSignIn(issuing, { scope });
  const tokens = await finish(await passThrough(visitor, issuing, url, address));
  return { visitor, configuration, ...tokens, headers: bearer(tokens.access_token) };
}

type Person = Awaited<ReturnType<typeof signInWith>>;

/** Goes to another application in a signed-in browser, without a code. */
async function goOn({ visitor }: Pick<Person, "visitor">) {
  const [redirect = ""] = other.redirect_uris;
  const { url, finish } = await startSignIn(issuing, { scope, client: other.client_id, redirect });
  return finish((await visitor.open(url)).url);
}

/** A person who has signed in with two browsers, the second a minute later. */
async function twice() {
  const address = freshAddress();
  const first = await signInWith(firefox, address);
  clock.advance(minutes(1));
  return { first, second: await signInWith(safari, address) };
}

const read = (headers: Headers, query = "") => issuing.send("GET", `${path}${query}`, { headers });
const listed = async (headers: Headers): Promise<readonly SignIn[]> => (await read(headers)).body.items;
const isLetIn = async (headers: Headers) => (await issuing.send("GET", "/api/account/", { headers })).status === 200;
const end = (headers: Headers, id: string | undefined) => issuing.send("DELETE", `${path}${id}`, { headers });
const refresh = ({ configuration, refresh_token = "" }: Person) =>
  openid.refreshTokenGrant(configuration, refresh_token);

/** Creates a key, which outlives every sign-in. */
async function keyOf({ headers }: Person): Promise<Headers> {
  const body = { name: "key", scopes: ["account:read"] };
  return { "x-api-key": (await issuing.send("POST", "/api/account/api-keys/", { headers, body })).body.key };
}

/** Moves the service's clock on until the test ends; the provider has the machine's clock. */
function moveOn(t: TestContext, milliseconds: number): void {
  clock.advance(milliseconds);
  t.after(() => clock.advance(-milliseconds));
}

/** Ends the browser's session; its applications keep their tokens. */
async function signOut({ visitor }: Person): Promise<void> {
  await visitor.submit(await visitor.open(`${issuer}/end-session`), { logout: "yes" });
}

/** Returns true when the browser gets the page that asks for an address, false when it gets its code at once. */
async function isAskedToSignIn({ visitor }: Person): Promise<boolean> {
  const { url } = await startSignIn(issuing, { scope });
  return !(await visitor.open(url)).url.href.startsWith(application.redirect_uris[0] ?? "");
}

test("each browser that signed in is listed, newest first, and says which one the token is of", async () => {
  const { first, second } = await twice();
  const seen = await listed(first.headers);
  assert.deepEqual(
    seen.map(({ browser, current, address }) => ({ browser, current, address })),
    [
      { browser: "Safari, macOS", current: false, address: "127.0.0.1" },
      { browser: "Firefox, Linux", current: true, address: "127.0.0.1" },
    ],
  );
  assert.equal(seen[0]?.created_at, clock.now().toISOString());
  const bySecond = await listed(second.headers);
  assert.deepEqual(
    bySecond.map(({ id, current }) => [id, current]),
    seen.map(({ id, current }) => [id, !current]),
  );
  const stranger = await signInWith(firefox, freshAddress());
  assert.equal((await listed(stranger.headers)).length, 1);
});

async function why(headers: Headers, id: string): Promise<{ readonly what: string; readonly reason: string | null }[]> {
  const principal = encodePrincipal(await issuing.principalOf(headers));
  const { url, token } = issuing.principals;
  const sent = { "x-signalbox-internal-token": token, [principalHeader]: principal };
  const answer = await fetch(`${url}/internal/why/${id}`, { headers: sent });
  return ((await answer.json()) as { readonly steps: { readonly what: string; readonly reason: string | null }[] })
    .steps;
}
const whatOf = async (headers: Headers, id: string) => (await why(headers, id)).map(({ what }) => what);

test("why of a sign-in says when and with which browser, to its own account alone, and who ended it", async () => {
  const { first, second } = await twice();
  const [, { id = "" } = {}] = await listed(second.headers);
  assert.deepEqual(await whatOf(second.headers, id), [
    "A person signed in with Firefox, Linux.",
    "An application last got a token through it.",
  ]);
  assert.deepEqual(await whatOf((await signInWith(firefox, freshAddress())).headers, id), []);
  assert.equal((await end(second.headers, id)).status, 204);
  assert.deepEqual(await whatOf(second.headers, id), ["sign_in.end."]);
  assert.equal(await isLetIn(first.headers), false);
});

test("why of an event names the consumer that has parked it, to its own account alone", async () => {
  const { headers } = await signInWith(firefox, freshAddress());
  const { accountId } = await issuing.principalOf(headers);
  const eventId = crypto.randomUUID();
  const { pool } = openInside(issuing);
  const park = sql(
    "",
    `insert into signalbox.parked (consumer, key, topic, partition, "offset", timestamp_ms, headers, attempt, next_at, reason)
     values ('audit', 'key', 'topic', 0, 0, 0, $1, 3, '2026-01-01T09:00:00Z', 'password of the database')`,
  );
  await pool.query(park, [JSON.stringify({ ce_id: eventId, ce_accountid: accountId })]);
  const [step, ...others] = await why(headers, eventId);
  assert.equal(step?.what, "The consumer audit of account parked the event.");
  assert.equal(
    step?.reason,
    "parked: after 3 tries, the next at 2026-01-01T09:00:00.000Z",
    "the failure itself is for operators",
  );
  assert.deepEqual(others, []);
  assert.deepEqual(await why((await signInWith(firefox, freshAddress())).headers, eventId), []);
  await pool.query(sql("", "delete from signalbox.parked"));
});

test("the list has pages, in REST and in the graph", async () => {
  const { first } = await twice();
  const [newer, older] = await listed(first.headers);
  const page = (await read(first.headers, "?limit=1")).body;
  assert.deepEqual([page.items, page.has_more], [[newer], true]);
  const next = (await read(first.headers, `?limit=1&cursor=${page.next_cursor}`)).body;
  assert.deepEqual([next.items, next.has_more], [[older], false]);

  const fields =
    "edges { node { id createdAt lastUsedAt browser address current } } pageInfo { hasNextPage endCursor }";
  const nodes = async (args: string) => {
    const { data } = await issuing.query(first.headers, `{ viewer { signIns(${args}) { ${fields} } } }`);
    return data.viewer.signIns;
  };
  const { edges, pageInfo } = await nodes("first: 1");
  const { id, created_at: createdAt, last_used_at: lastUsedAt, browser, address, current } = newer as SignIn;
  assert.deepEqual(edges, [{ node: { id, createdAt, lastUsedAt, browser, address, current } }]);
  const rest = await nodes(`first: 1, after: "${pageInfo.endCursor}"`);
  assert.deepEqual([rest.edges[0].node.id, rest.pageInfo.hasNextPage], [older?.id, false]);
});

test("a refresh is a use, to the minute, and another application in the browser is the same sign-in", async () => {
  const { first } = await twice();
  const [, before] = await listed(first.headers);
  clock.advance(minutes(2));
  const { access_token } = await refresh(first);
  const [, after] = await listed(bearer(access_token));
  assert.deepEqual(after, { ...before, last_used_at: clock.now().toISOString() });
  const viewer = await goOn(first);
  const byViewer = await listed(bearer(viewer.access_token));
  assert.deepEqual(
    byViewer.map(({ id, current }) => [id, current]),
    (await listed(bearer(access_token))).map(({ id, current }) => [id, current]),
  );
});

const doors = {
  REST: async (headers: Headers, id: string) => assert.equal((await end(headers, id)).status, 204),
  "the graph": async (headers: Headers, id: string) => {
    const text = `mutation { endSignIn(input: { id: "${id}" }) { account { id } errors { message } } }`;
    const { data, errors } = await issuing.query(headers, text);
    assert.deepEqual([errors, data?.endSignIn.errors], [undefined, []]);
  },
};
for (const [door, endBy] of Object.entries(doors)) {
  test(`a sign-in that was ended by ${door} is over at the next request, and the other goes on`, async (t) => {
    const elsewhere = await startElsewhere(issuing);
    t.after(elsewhere.close);
    const { first, second } = await twice();
    const viewer = bearer((await goOn(first)).access_token);
    for (const headers of [first.headers, viewer]) assert.equal(await elsewhere.may(headers, "read"), "yes");
    const [, ended] = await listed(second.headers);

    await endBy(second.headers, ended?.id ?? "");
    for (const headers of [first.headers, viewer]) {
      assert.equal((await issuing.send("GET", "/api/account/", { headers })).status, 401);
      await eventually(async () => (await elsewhere.may(headers, "read")) === "unauthorized", { timeoutMs: 2000 });
    }
    await assert.rejects(refresh(first), { error: "invalid_grant" });
    assert.ok(await isAskedToSignIn(first));

    assert.deepEqual(
      (await listed(second.headers)).map(({ id, current }) => [id, current]).filter(([id]) => id === ended?.id),
      [],
    );
    assert.ok(await isLetIn(second.headers));
    assert.ok(!(await isAskedToSignIn(second)));
    assert.ok((await refresh(second)).access_token);
    const [entry] = (await issuing.send("GET", "/api/account/audit/?action=sign_in.end", { headers: second.headers }))
      .body.items;
    assert.deepEqual([entry.subject, entry.outcome], [ended?.id, "done"]);
  });
}

test("the sign-in that asks can be ended too", async () => {
  const { first, second } = await twice();
  const own = (await listed(first.headers)).find(({ current }) => current);
  assert.equal((await end(first.headers, own?.id)).status, 204);
  assert.ok(!(await isLetIn(first.headers)));
  assert.deepEqual(
    (await listed(second.headers)).map(({ current }) => current),
    [true],
  );
});

test("an id that nothing has, or that is another account's, is 404, and what it names goes on", async () => {
  const { first } = await twice();
  const stranger = await signInWith(firefox, freshAddress());
  const [theirs] = await listed(stranger.headers);
  for (const id of ["sgn_0000000000000000000000", theirs?.id]) {
    assert.equal((await end(first.headers, id)).status, 404);
    const text = `mutation { endSignIn(input: { id: "${id}" }) { errors { message } } }`;
    assert.equal((await issuing.query(first.headers, text)).errors?.[0].extensions.code, "NOT_FOUND");
  }
  assert.ok(await isLetIn(stranger.headers));
  const [own] = await listed(first.headers);
  assert.equal((await end(first.headers, own?.id)).status, 204);
  assert.equal((await end(first.headers, own?.id)).status, 404, "it has ended");
});

test("ending a sign-in needs a recent one, and the scope", async (t) => {
  const { first, second } = await twice();
  const [newest] = await listed(first.headers);
  const narrow = await openid.refreshTokenGrant(first.configuration, first.refresh_token ?? "", {
    scope: "account:read",
  });
  assert.equal((await end(bearer(narrow.access_token), newest?.id)).status, 403);
  moveOn(t, minutes(16));
  const late = await end(second.headers, newest?.id);
  assert.deepEqual([late.status, late.body.error.details[0].code], [403, "step_up_required"]);
  assert.ok(await isLetIn(second.headers));
});

test("a sign-in is listed while anything of it is good: the browser's session, or the tokens of an application", async () => {
  const { first, second } = await twice();
  const browsers = async () => (await listed(second.headers)).map(({ browser }) => browser);
  await openid.tokenRevocation(first.configuration, first.refresh_token ?? "");
  assert.ok(!(await isLetIn(first.headers)));
  assert.deepEqual(await browsers(), ["Safari, macOS", "Firefox, Linux"], "the browser is signed in");
  await signOut(first);
  assert.deepEqual(await browsers(), ["Safari, macOS"]);
  await signOut(second);
  assert.deepEqual(await browsers(), ["Safari, macOS"], "its application has tokens");
});

test("what nobody has used for two weeks is over, and is kept for a day more at most", async (t) => {
  const { first } = await twice();
  const key = await keyOf(first);
  moveOn(t, hours(24 * 14));
  assert.deepEqual(await listed(key), []);
  const { pool } = openInside(issuing);
  const rows = async () =>
    (await pool.query(sql("", "select from sign_ins where last_used_at < $1"), [clock.now()])).rowCount;
  assert.ok((await rows()) >= 2);
  clock.advance(hours(25));
  // The service looks once a minute: the same rules, more often.
  const often = signInRetention.map((rule) => ({ ...rule, name: `${rule.name}, often`, everyMs: 20 }));
  startRetention({ runner: issuing.context.runner, pool, clock }, often);
  await eventually(async () => (await rows()) === 0);
});

test("signing out everywhere empties the list", async () => {
  const { first } = await twice();
  const key = await keyOf(first);
  assert.equal((await listed(key)).length, 2);
  assert.equal((await issuing.send("DELETE", path, { headers: first.headers })).status, 204);
  assert.deepEqual(await listed(key), []);
});

test("a person of another issuer has no sign-ins here", async () => {
  const headers = account.person({});
  const answer = await account.send("GET", path, { headers });
  assert.deepEqual([answer.status, answer.body], [200, { items: [], has_more: false }]);
  assert.equal((await account.send("DELETE", `${path}sgn_x`, { headers })).status, 404);
});

test("an export has the sign-ins", async () => {
  const { first } = await twice();
  const { sign_ins: exported } = (await issuing.send("GET", "/api/account/export/", { headers: first.headers })).body;
  const expected = (await listed(first.headers)).map(({ current: _current, ...signIn }) => signIn);
  assert.deepEqual(exported, expected);
});

test("a purge leaves none of it", async () => {
  const { first } = await twice();
  const { id } = (await issuing.send("GET", "/api/account/", { headers: first.headers })).body;
  const { pool } = openInside(issuing);
  const kept = async () => (await rowsWith(pool, id)).filter((row) => /^sign_in(s|_grants) /.test(row)).length;
  assert.equal(await kept(), 4, "two sign-ins with a grant each");
  await inTransaction(pool, (tx) => eraseAccount(tx, id));
  assert.equal(await kept(), 0);
});
