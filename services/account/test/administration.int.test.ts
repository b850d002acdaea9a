import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AuditEntryResource } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import { createAuditReads } from "@signalbox/service";
import { serviceWith } from "@signalbox/testing";
import { recordReadOfAccount, writeReadsTogether } from "../src/audit/audit-log.ts";
import type { AccountService } from "../src/context/account-service.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
let administrator: Record<string, string>;

before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const list = "/api/accounts/";
const get = (path: string, headers = administrator) => account.send("GET", path, { headers });
const newAccount = async (claims: Record<string, unknown> = {}): Promise<string> =>
  (await get("/api/account/", account.person(claims))).body.id;
const search = async (query: string): Promise<string[]> =>
  (await get(`${list}?${query}`)).body.items.map(({ id }: { id: string }) => id);

test("an administrator reads any account, with what its owner sees and what only administrators do", async () => {
  const headers = account.person({ name: "Ada" });
  const own = (await get("/api/account/", headers)).body;
  const { status, body, headers: answered } = await get(`${list}${own.id}`);
  assert.equal(status, 200);
  const { links: _own, ...shared } = own;
  assert.deepEqual(body, {
    ...shared,
    roles: ["owner"],
    scopes_max: null,
    metadata: {},
    status_changed_by: null,
    next_statuses: own.status === "pending" ? ["active", "deleted"] : ["suspended", "disabled", "deleted"],
    recovery_requested_at: null,
    purged_at: null,
    links: { self: `${list}${own.id}`, status: `${list}${own.id}/status`, audit: `${list}${own.id}/audit/` },
  });
  const again = await get(`${list}${own.id}`, {
    ...administrator,
    "if-none-match": answered.get("etag") as string,
  });
  assert.equal(again.status, 304);
});

test("an account that is not there is missing, whatever its id looks like", async () => {
  for (const id of ["acc_0000000000000000000000", "x", "%00", "..%2f", "null"]) {
    assert.equal((await get(`${list}${id}`)).status, 404, id);
  }
});

test("the list shows every account once, newest first, page by page, while others come", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const made: string[] = [];
  for (let count = 0; count < 5; count++) made.unshift(await newAccount({ name: `Walk ${word} ${count}` }));
  const seen: string[] = [];
  let cursor = "";
  for (;;) {
    const { body } = await get(`${list}?search=${word}&limit=2${cursor}`);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    await newAccount({ name: `Walk ${word} later` });
    if (!body.has_more) break;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  assert.deepEqual(seen, made);
});

test("accounts are found by a part of the name or the address in any case, by id, by status and by time", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const named = await newAccount({ name: `Zoë 100%_${word.toUpperCase()}` });
  const addressed = await newAccount({ email: `${word}@example.org`, email_verified: true });
  assert.deepEqual(await search(`search=${word}`), [addressed, named]);
  assert.deepEqual(await search(`search=${named}`), [named]);
  assert.deepEqual(await search(`search=${encodeURIComponent(`100%_${word}`)}`), [named]);
  assert.deepEqual(await search(`search=${encodeURIComponent(`1_0%${word}`)}`), [], "signs of LIKE mean themselves");
  assert.deepEqual(await search(`search=${word}&status=suspended`), []);
  const { created_at } = (await get(`${list}${named}`)).body;
  assert.deepEqual(await search(`search=${word}&created_after=${created_at}`), [addressed]);
  assert.deepEqual(await search(`search=${word}&created_before=${created_at}`), []);
});

test("a name is found however its letters were typed", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const id = await newAccount({ name: `Zoe\u0308 ${word}` });
  for (const typed of [`Zo\u00eb ${word}`, `zoe\u0308 ${word}`]) {
    assert.deepEqual(await search(`search=${encodeURIComponent(typed)}`), [id]);
    const { data } = await account.query(
      administrator,
      "query($s: String) { accounts(search: $s) { edges { node { id } } } }",
      {
        s: typed,
      },
    );
    assert.deepEqual(data.accounts.edges, [{ node: { id } }]);
  }
});

test("what a filter does not know is refused, never ignored", async () => {
  for (const query of [
    "status=gone",
    "search=x",
    "limit=0",
    "limit=101",
    "recovery_requested=1",
    "cursor=x",
    "name=a",
  ]) {
    assert.equal((await get(`${list}?${query}`)).status, 400, query);
  }
});

test("an owner's credential opens none of these routes, not even for the own account", async () => {
  const headers = account.person();
  const own = (await get("/api/account/", headers)).body.id;
  for (const path of [list, `${list}${own}`]) assert.equal((await get(path, headers)).status, 403);
  const body = { status: "suspended", reason: "x" };
  assert.equal((await account.send("POST", `${list}${own}/status`, { headers, body })).status, 403);
  const claimed = account.person({ scope: "account:read account:admin" });
  assert.equal((await get(list, claimed)).status, 403, "the scope of a token does not make an administrator");
});

type Headers = Record<string, string>;

/** Makes an administrator with a new key, whose reads are nobody else's, and a person with an account. */
async function people() {
  const administrator = { "x-api-key": await account.firstKey() };
  const { id: administratorId } = (await account.send("GET", "/api/account/", { headers: administrator })).body;
  const person = account.person();
  const { id } = (await account.send("GET", "/api/account/", { headers: person })).body;
  return { administrator, administratorId, person, id };
}

async function read(path: string, headers: Headers): Promise<void> {
  const { status, body } = await account.send("GET", path, { headers });
  assert.equal(status, 200, JSON.stringify(body));
}

/** The entries of these actions in the audit of the caller, the oldest first. */
async function entriesOf(headers: Headers, ...actions: string[]): Promise<AuditEntryResource[]> {
  const { body } = await account.send("GET", "/api/account/audit/?limit=100", { headers });
  return body.items.filter(({ action }: AuditEntryResource) => actions.includes(action)).reverse();
}

test("an owner sees that an administrator read the account and its audit, by REST, but not by which credential", async () => {
  const { administrator, administratorId, person, id } = await people();
  await read(`/api/accounts/${id}`, administrator);
  const page = await account.send("GET", `/api/accounts/${id}/audit/?action=account.read_audit`, {
    headers: administrator,
  });
  assert.deepEqual(page.body.items, [], "a page does not show its own read");
  const entries = await entriesOf(person, "account.read", "account.read_audit");
  assert.deepEqual(entries.map(({ action }) => action).toSorted(), ["account.read", "account.read_audit"]);
  for (const { actor, outcome } of entries) {
    const hidden = { kind: "administrator", account_id: administratorId, credential: null, address: null };
    assert.deepEqual([actor, outcome], [hidden, "done"]);
  }
});

test("so does a read in the graph, by every way to the account", async () => {
  for (const text of [
    (id: string) => `{ account(id: "${id}") { displayName auditLog(first: 1) { edges { node { id } } } } }`,
    (id: string) =>
      `{ _entities(representations: [{ __typename: "Account", id: "${id}" }]) {
        ... on Account { displayName auditLog(first: 1) { edges { node { id } } } } } }`,
  ]) {
    const { administrator, person, id } = await people();
    assert.equal((await account.query(administrator, text(id))).errors, undefined);
    const actions = (await entriesOf(person, "account.read", "account.read_audit")).map(({ action }) => action);
    assert.deepEqual(actions.toSorted(), ["account.read", "account.read_audit"], text(id));
  }
});

test("an owner sees that an administrator read the lists of keys, clients and sign-ins, at either edge", async () => {
  const actions = ["account.read_api_keys", "account.read_clients", "account.read_sign_ins"];
  const seenBy = async (person: Headers) =>
    (await entriesOf(person, ...actions)).map(({ action }) => action).toSorted();
  const { administrator, person, id } = await people();
  for (const folder of ["api-keys", "clients", "sign-ins"]) await read(`/api/accounts/${id}/${folder}/`, administrator);
  assert.deepEqual(await seenBy(person), actions);
  const { administrator: other, person: another, id: anotherId } = await people();
  const lists = ["apiKeys", "serviceClients", "signIns"].map((name) => `${name}(first: 1) { edges { node { id } } }`);
  for (const folder of ["api-keys", "clients", "sign-ins"]) await read(`/api/account/${folder}/`, another);
  assert.deepEqual(await seenBy(another), [], "an owner's own read leaves none");
  assert.equal(
    (await account.query(other, `{ account(id: "${anotherId}") { ${lists.join(" ")} } }`)).errors,
    undefined,
  );
  assert.deepEqual(await seenBy(another), actions);
});

test("lists over all accounts are in the audit of their reader", async () => {
  const { administrator } = await people();
  await read("/api/accounts/", administrator);
  await read("/api/accounts/audit/", administrator);
  const { administrator: other } = await people();
  const lists = "{ accounts(first: 1) { edges { node { id } } } accountsAuditLog(first: 1) { edges { node { id } } } }";
  assert.equal((await account.query(other, lists)).errors, undefined);
  for (const reader of [administrator, other]) {
    const { credential } = await account.principalOf(reader);
    const own = (await entriesOf(reader, "account.list", "account.list_audit")).filter(
      ({ actor }) => actor.credential === credential.id,
    );
    assert.deepEqual(own.map(({ action }) => action).toSorted(), ["account.list", "account.list_audit"]);
  }
});

test("a read of one's own account, of a missing one and by a caller without the scope leaves no entry", async () => {
  const { administrator, administratorId, person, id } = await people();
  await read(`/api/accounts/${administratorId}`, administrator);
  await read(`/api/accounts/${administratorId}/audit/`, administrator);
  await read("/api/account/", person);
  assert.equal((await account.send("GET", "/api/accounts/acc_none", { headers: administrator })).status, 404);
  assert.equal((await account.send("GET", `/api/accounts/${id}`, { headers: person })).status, 403);
  assert.deepEqual(await entriesOf(administrator, "account.read", "account.read_audit"), []);
  assert.deepEqual(await entriesOf(person, "account.read", "account.read_audit"), []);
});

test("the same read is one entry a minute, whatever the instances", async () => {
  const { administrator, person, id } = await people();
  const { pool } = openInside(account);
  const clock = { ...account.context.clock };
  const atMs = Math.floor(clock.nowMs() / minutes(1)) * minutes(1);
  let nowMs = atMs;
  clock.nowMs = () => nowMs;
  const instances = [1, 2].map(() =>
    serviceWith<AccountService>({ auditReads: createAuditReads({ clock, write: writeReadsTogether(pool) }) }),
  );
  const caller = { ...(await account.principalOf(administrator)), requestId: "r", clientAddress: null };
  const readByAll = () =>
    Promise.all([...instances, ...instances].map((one) => recordReadOfAccount(one, caller, id, "account.read")));
  await readByAll();
  nowMs = atMs + minutes(1) - 1;
  await readByAll();
  assert.equal((await entriesOf(person, "account.read")).length, 1);
  nowMs = atMs + minutes(1);
  await readByAll();
  assert.equal((await entriesOf(person, "account.read")).length, 2);
});
