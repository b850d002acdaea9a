import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { startIssuer } from "./oauth-fixture.ts";
import { applications, newcomer } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const create = `mutation($input: CreateServiceClientInput!) {
  createServiceClient(input: $input) { serviceClient { id name scopes status } clientSecret errors { field message } } }`;

test("a client is made, listed, renamed, given another secret and revoked in the graph; its secrets are shown once", async () => {
  const person = await newcomer(account);
  const input = { name: "robot", scopes: ["account:read"] };
  const {
    serviceClient: client,
    clientSecret,
    errors,
  } = (await account.query(person, create, { input })).data.createServiceClient;
  assert.deepEqual([client.name, client.scopes, client.status, errors], ["robot", ["account:read"], "active", []]);
  assert.match(clientSecret, /^sbx_client_/);

  const change = async (field: string, more: object, selection: string) => {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input!`;
    const text = `mutation($input: ${type}) { ${field}(input: $input) { ${selection} errors { field } } }`;
    const { data, errors } = await account.query(person, text, { input: { id: client.id, ...more } });
    return data?.[field] ?? errors[0];
  };
  const renamed = await change("renameServiceClient", { name: "other" }, "serviceClient { name }");
  assert.deepEqual(renamed, { serviceClient: { name: "other" }, errors: [] });
  const rotated = await change(
    "rotateServiceClientSecret",
    { overlapSeconds: 60 },
    "serviceClient { previousSecretExpiresAt secrets { id createdAt endsAt } } clientSecret",
  );
  assert.notEqual(rotated.clientSecret, clientSecret);
  assert.ok(Date.parse(rotated.serviceClient.previousSecretExpiresAt) > account.context.clock.nowMs());
  const early = await change("rotateServiceClientSecret", { overlapSeconds: 60 }, "clientSecret");
  assert.equal(early.extensions.code, "CONFLICT");
  assert.match(early.message, new RegExp(rotated.serviceClient.previousSecretExpiresAt));
  const { secrets, previousSecretExpiresAt } = rotated.serviceClient;
  assert.deepEqual(
    secrets.map(({ endsAt }: { endsAt: string | null }) => endsAt),
    [null, previousSecretExpiresAt],
  );
  assert.ok(secrets[0].createdAt >= secrets[1].createdAt);
  const ended = await change("deletePreviousServiceClientSecrets", {}, "serviceClientId");
  assert.deepEqual(ended, { serviceClientId: client.id, errors: [] });
  const left = await change(
    "renameServiceClient",
    { name: "other" },
    "serviceClient { secrets { id createdAt endsAt } }",
  );
  assert.deepEqual(left.serviceClient.secrets, [secrets[0]]);
  const revoked = await change("revokeServiceClient", {}, "serviceClient { status secrets { id } }");
  assert.deepEqual(revoked.serviceClient, { status: "revoked", secrets: [] });

  const list = "{ viewer { serviceClients(first: 1) { edges { node { id name status } } pageInfo { hasNextPage } } } }";
  assert.deepEqual((await account.query(person, list)).data.viewer.serviceClients, {
    edges: [{ node: { id: client.id, name: "other", status: "revoked" } }],
    pageInfo: { hasNextPage: false },
  });
});

test("what a client may not be is said in the payload, by the member's name", async () => {
  const input = { name: "", scopes: ["account:admin"], expiresAt: "2000-01-01T00:00:00.000Z" };
  const nameless = (await account.query(await newcomer(account), create, { input })).data.createServiceClient;
  assert.deepEqual(
    [nameless.serviceClient, nameless.errors.map(({ field }: { field: string }) => field)],
    [null, ["name"]],
  );
  const named = { ...input, name: "robot" };
  const privileged = (await account.query(await newcomer(account), create, { input: named })).data.createServiceClient;
  assert.deepEqual(
    privileged.errors.map(({ field }: { field: string }) => field),
    ["scopes", "scopes", "expiresAt"],
  );
});
