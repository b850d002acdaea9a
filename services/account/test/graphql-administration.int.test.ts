import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createSubgraph, encodePrincipal, principalHeader } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import { eventually, serveListener } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

const schemaFile = new URL("../subgraph.graphql", import.meta.url);
let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

type Headers = Record<string, string>;
const codeOf = ({ errors }: { errors?: { extensions: { code: string } }[] }) => errors?.[0]?.extensions.code;
const query: Harness["query"] = (headers, text, variables) => account.query(headers, text, variables);
const idOf = async (headers: Headers): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;

const newKey = async (headers: Headers): Promise<string> => {
  const body = { name: "deploy", scopes: ["account:read"] };
  return (await account.send("POST", "/api/account/api-keys/", { headers, body })).body.id;
};

const setStatus = `mutation($input: SetAccountStatusInput!) {
  setAccountStatus(input: $input) { account { id status } errors { field message } } }`;

test("administrators walk all accounts, narrow them, and see what owners do not", async () => {
  const administrator = { "x-api-key": await account.firstKey() };
  const name = `Person ${crypto.randomUUID()}`;
  const ids = [];
  for (let count = 0; count < 3; count++) ids.unshift(await idOf(account.person({ name })));
  const page = `query($search: String, $status: AccountStatus, $after: String) {
    accounts(search: $search, status: $status, first: 2, after: $after) {
      edges { node { id administration { statusReason statusChangedBy } } } pageInfo { hasNextPage endCursor } } }`;
  const first = (await query(administrator, page, { search: name })).data.accounts;
  const rest = (await query(administrator, page, { search: name, after: first.pageInfo.endCursor })).data.accounts;
  const walked = [...first.edges, ...rest.edges].map(({ node }: { node: { id: string } }) => node.id);
  assert.deepEqual([walked.sort(), rest.pageInfo.hasNextPage], [ids.sort(), false]);

  await query(administrator, setStatus, { input: { accountId: ids[0], status: "suspended", reason: "spam" } });
  const { accounts } = (await query(administrator, page, { search: name, status: "suspended" })).data;
  const administration = { statusReason: "spam", statusChangedBy: "administrator" };
  assert.deepEqual(accounts.edges, [{ node: { id: ids[0], administration } }]);
  const one = `query($id: ID!) { account(id: $id) { id status auditLog { edges { node { action actor { credential } } } } } }`;
  const read = (await query(administrator, one, { id: ids[0] })).data.account;
  assert.equal(read.status, "suspended");
  assert.match(read.auditLog.edges[0].node.actor.credential, /^key_/);
  for (const id of ["acc_0", "", "a\u0000"]) assert.equal((await query(administrator, one, { id })).data.account, null);
  assert.equal(codeOf(await query(administrator, page, { search: "x" })), "VALIDATION_FAILED");
  assert.equal(codeOf(await query(administrator, page, { after: "x" })), "VALIDATION_FAILED");
  const settings = await query(administrator, `{ account(id: "${ids[0]}") { settings { locale } } }`);
  assert.equal(codeOf(settings), "FORBIDDEN", "settings are their owner's alone");
});

test("administrators narrow by time and by who asks to have an account back, as in REST", async () => {
  const administrator = { "x-api-key": await account.firstKey() };
  const name = `Person ${crypto.randomUUID()}`;
  const [first, second] = [account.person({ name }), account.person({ name })];
  const { id, created_at } = (await account.send("GET", "/api/account/", { headers: first })).body;
  const later = await idOf(second);
  await account.send("POST", "/api/account/status/", { headers: second, body: { status: "disabled" } });
  await eventually(
    async () => (await account.send("POST", "/api/account/recovery/", { headers: second })).status === 202,
  );
  const text = `query($name: String, $asks: Boolean, $after: DateTime, $before: DateTime) {
    accounts(search: $name, recoveryRequested: $asks, createdAfter: $after, createdBefore: $before) {
      edges { node { id } } } }`;
  const found = async (variables: object) => {
    const { data } = await query(administrator, text, { name, ...variables });
    return data.accounts.edges.map(({ node }: { node: { id: string } }) => node.id);
  };
  assert.deepEqual(await found({ asks: true }), [later]);
  assert.deepEqual(await found({ asks: false }), [id]);
  assert.deepEqual(await found({ asks: null, after: null }), [later, id]);
  assert.deepEqual(await found({ after: created_at }), [later]);
  assert.deepEqual(await found({ before: new Date(Date.parse(created_at) + 1).toISOString() }), [id]);
});

test("an owner walks the audit of the account, without credentials and addresses of administrators", async () => {
  const person = account.person();
  const accountId = await idOf(person);
  const administrator = { "x-api-key": await account.firstKey() };
  await account.send("PATCH", "/api/account/", { headers: person, body: { display_name: "Eve" } });
  await query(administrator, setStatus, { input: { accountId, status: "suspended", reason: "spam" } });
  const page = `query($after: String) { viewer { auditLog(first: 2, after: $after) { edges { node {
    action outcome fields reason createdAt requestId actor { kind accountId credential address } } }
    pageInfo { hasNextPage endCursor } } } }`;
  const first = (await query(person, page)).data.viewer.auditLog;
  const rest = (await query(person, page, { after: first.pageInfo.endCursor })).data.viewer.auditLog;
  const nodes = [...first.edges, ...rest.edges].map(({ node }) => node);
  const actions = nodes.map(({ action }) => action);
  assert.deepEqual(actions, ["account.suspend", "account.update", "account.create"]);
  const { actor, reason, outcome, fields } = nodes[0];
  assert.deepEqual([reason, outcome, fields], ["spam", "done", ["status"]]);
  assert.deepEqual([actor.kind, actor.credential, actor.address], ["administrator", null, null]);
  assert.equal(nodes[1].actor.accountId, accountId);
  assert.deepEqual([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage], [true, false]);
});

test("a hundred entities of a request are looked up with one statement", async () => {
  const { pool, edges } = openInside(account);
  const served = await serveListener(
    createSubgraph({ typeDefs: await readFile(schemaFile, "utf8"), resolvers: edges.resolvers, ...account.context }),
  );
  try {
    const administrator = { "x-api-key": await account.firstKey() };
    const person = account.person();
    const people = [account.person(), person];
    const ids = await Promise.all(people.map(idOf));
    // With the audit of its creation, each account has as many entries as a page reads.
    for (const headers of people)
      await account.send("PATCH", "/api/account/", { headers, body: { display_name: "Eve" } });
    const keys = [await newKey(administrator), await newKey(administrator)];
    const representations = Array.from({ length: 50 }, (_, at) => [
      { __typename: "Account", id: ids[at % 2] },
      { __typename: "ApiKey", id: keys[at % 2] },
    ]).flat();
    const text = `query($of: [_Any!]!) { _entities(representations: $of) {
      ... on Account { displayName auditLog(first: 1) { edges { node { accountId } } } } ... on ApiKey { name } } }`;
    const principal = await account.principalOf(administrator);
    const sent = countStatements(pool);
    const response = await fetch(`${served.url}/graphql`, {
      method: "POST",
      headers: { [principalHeader]: encodePrincipal(principal) },
      body: JSON.stringify({ query: text, variables: { of: representations } }),
    });
    interface Found {
      readonly displayName?: string;
      readonly name?: string;
      readonly auditLog?: { readonly edges: readonly { readonly node: { readonly accountId: string } }[] };
    }
    const { data } = (await response.json()) as { data: { _entities: Found[] } };
    assert.ok(data._entities.every(({ displayName, name }) => displayName !== undefined || name === "deploy"));
    for (const [at, { auditLog }] of data._entities.entries())
      for (const { node } of auditLog?.edges ?? []) assert.equal(node.accountId, ids[(at / 2) % 2]);
    assert.ok(data._entities[0]?.auditLog?.edges.length, "a change is in the audit");
    // The reads of the accounts are written with one statement, and those of their audits.
    const written = { jsonb_populate_recordset: 2 };
    assert.deepEqual(sent(), { accounts: 1, api_keys: 1, audit_entries: 1, ...written });
  } finally {
    await served.close();
  }
});

/** Counts the statements of a pool from now on, by table. */
function countStatements({ driver }: Pool): () => Record<string, number> {
  const counts: Record<string, number> = {};
  const query = driver.query.bind(driver) as (...given: unknown[]) => unknown;
  Object.assign(driver, {
    query(statement: { text: string }, ...rest: unknown[]) {
      const [, table = "other"] = /FROM (?!unnest)(?:"public"\.)?"?(\w+)/i.exec(statement.text) ?? [];
      counts[table] = (counts[table] ?? 0) + 1;
      return query(statement, ...rest);
    },
  });
  return () => counts;
}
