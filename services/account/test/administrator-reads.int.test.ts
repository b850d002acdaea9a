import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AuditEntryResource } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import { createAdministratorReads } from "../src/audit/administrator-reads.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

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
  const { pool, capabilities } = openInside(account);
  const clock = { ...account.context.clock };
  const atMs = Math.floor(clock.nowMs() / minutes(1)) * minutes(1);
  let nowMs = atMs;
  clock.nowMs = () => nowMs;
  const instances = [1, 2].map(() => createAdministratorReads({ pool, audit: capabilities.base.audit, clock }));
  const caller = { ...(await account.principalOf(administrator)), requestId: "r", clientAddress: null };
  const readByAll = () =>
    Promise.all([...instances, ...instances].map((one) => one.ofAccount(caller, id, "account.read")));
  await readByAll();
  nowMs = atMs + minutes(1) - 1;
  await readByAll();
  assert.equal((await entriesOf(person, "account.read")).length, 1);
  nowMs = atMs + minutes(1);
  await readByAll();
  assert.equal((await entriesOf(person, "account.read")).length, 2);
});
