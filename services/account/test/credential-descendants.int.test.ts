import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Scope } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import type { Harness } from "./harness.ts";
import { bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

type Headers = Record<string, string>;

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const [keysPath, clientsPath] = ["/api/account/api-keys/", "/api/account/clients/"];
const later = (ms: number) => new Date(Date.now() + ms).toISOString();
const newPerson = async () => bearer((await signedIn(account)).access_token);
const send = (method: string, path: string, headers: Headers, body?: object) =>
  account.send(method, path, { headers, ...(body && { body }) });

async function make(path: string, headers: Headers, more: object = {}, scopes: Scope[] = ["account:read"]) {
  const { status, body } = await send("POST", path, headers, { name: "made", scopes, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Creates a key that can create others, and returns its headers. */
async function makeManagingKey(headers: Headers, more: object = {}) {
  const { id, key } = await make(keysPath, headers, more, ["account:read", "account:security"]);
  return { id: id as string, headers: { "x-api-key": key as string } };
}

const statusOf = async (path: string, id: string, headers: Headers) =>
  (await send("GET", `${path}${id}`, headers)).body.status;
const detailOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [
  status,
  body.error.details[0].field,
  body.error.details[0].code,
];

test("keys and clients show who made them, over REST, in the graph and in events", async () => {
  const person = await newPerson();
  const key = await makeManagingKey(person);
  const made = await make(keysPath, key.headers);
  const client = await make(clientsPath, key.headers);
  const rotated = (await send("POST", `${keysPath}${made.id}/rotate`, person, {})).body;
  assert.deepEqual([made.created_by, client.created_by, rotated.created_by], [key.id, key.id, "person"]);
  const { data } = await account.query(
    person,
    "{ viewer { apiKeys(first: 9) { edges { node { id createdBy } } } serviceClients(first: 9) { edges { node { createdBy } } } } }",
  );
  const [keys, clients] = [data.viewer.apiKeys.edges, data.viewer.serviceClients.edges];
  assert.deepEqual(keys.map(({ node }: { node: { createdBy: string } }) => node.createdBy).sort(), [
    key.id,
    "person",
    "person",
  ]);
  assert.equal(clients[0].node.createdBy, key.id);
  const { id: accountId } = (await send("GET", "/api/account/", person)).body;
  const events = await account.eventsOf(accountId, 3, "api_key.created");
  const created = events.find(({ subject }) => subject === made.id);
  assert.equal((created?.data as { created_by?: string } | undefined)?.created_by, key.id);
  const first = await account.firstKey();
  const { items } = (await send("GET", keysPath, { "x-api-key": first })).body;
  assert.equal(items[0].created_by, "first-key");
});

test("a key that expires makes nothing that outlives it, neither anew nor by a rotation", async () => {
  const person = await newPerson();
  const [end, beyond] = [later(hours(24)), later(hours(25))];
  const key = await makeManagingKey(person, { expires_at: end });
  const body = { name: "made", scopes: ["account:read"] };
  for (const path of [keysPath, clientsPath]) {
    for (const expires of [{}, { expires_at: null }, { expires_at: beyond }]) {
      const refused = await send("POST", path, key.headers, { ...body, ...expires });
      assert.deepEqual(detailOf(refused), [422, "expires_at", "beyond_creator"]);
    }
    assert.equal((await make(path, key.headers, { expires_at: end })).expires_at, end);
  }
  const [forEver, client] = [await make(keysPath, person), await make(clientsPath, person)];
  for (const path of [`${keysPath}${forEver.id}/rotate`, `${clientsPath}${client.id}/secret/rotate`]) {
    assert.deepEqual(detailOf(await send("POST", path, key.headers, {})), [403, "expires_at", "beyond_creator"]);
  }
  const itself = await send("POST", `${keysPath}${key.id}/rotate`, key.headers, {});
  assert.deepEqual([itself.status, itself.body.expires_at], [201, end]);
});

test("a key without an end makes keys of any end", async () => {
  const person = await newPerson();
  const key = await makeManagingKey(person);
  for (const path of [keysPath, clientsPath]) {
    for (const headers of [person, key.headers]) assert.equal((await make(path, headers)).expires_at, null);
  }
});

test("a revocation says how many it made that still work, and takes them along when asked to", async () => {
  const person = await newPerson();
  const key = await makeManagingKey(person);
  const second = await makeManagingKey(key.headers);
  const [third, client] = [await make(keysPath, second.headers), await make(clientsPath, second.headers)];
  const [ended, other] = [await make(keysPath, key.headers), await make(keysPath, person)];
  assert.equal((await send("DELETE", `${keysPath}${ended.id}`, person)).status, 204);

  const first = await send("DELETE", `${keysPath}${key.id}`, person);
  assert.deepEqual([first.status, first.body], [200, { id: key.id, created_live: 3 }]);
  assert.equal(await statusOf(keysPath, second.id, person), "active");
  // Also with a key that was revoked before.
  const again = await send("DELETE", `${keysPath}${key.id}?revoke_created=true`, person);
  assert.equal(again.status, 204);
  const statuses = [
    await statusOf(keysPath, second.id, person),
    await statusOf(keysPath, third.id, person),
    await statusOf(clientsPath, client.id, person),
    await statusOf(keysPath, other.id, person),
  ];
  assert.deepEqual(statuses, ["revoked", "revoked", "revoked", "active"]);
  const { items } = (await send("GET", "/api/account/audit/", person)).body;
  const revoked = items.filter(({ action }: { action: string }) => action.endsWith(".revoke"));
  assert.equal(revoked.length, 5);
  assert.equal((await send("DELETE", `${keysPath}${other.id}?revoke_created=maybe`, person)).status, 400);
});

test("the graph takes along what a revoked key has made", async () => {
  const person = await newPerson();
  const key = await makeManagingKey(person);
  const made = await make(keysPath, key.headers);
  const revoke = `mutation($input: RevokeApiKeyInput!) {
    revokeApiKey(input: $input) { apiKey { status } createdLive errors { code } }
  }`;
  const payload = async (input: object) => (await account.query(person, revoke, { input })).data.revokeApiKey;
  const shown = (createdLive: number) => ({ apiKey: { status: "revoked" }, createdLive, errors: [] });
  assert.deepEqual(await payload({ id: key.id }), shown(1));
  assert.deepEqual(await payload({ id: key.id, revokeCreated: true }), shown(0));
  assert.equal(await statusOf(keysPath, made.id, person), "revoked");
  const rename = `mutation { renameApiKey(input: { id: "${made.id}", name: "x" }) { createdLive } }`;
  assert.deepEqual((await account.query(person, rename)).data.renameApiKey, { createdLive: null });
});
