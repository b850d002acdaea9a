import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { openInside } from "./inside.ts";
import { bearer, clientToken, makeClient, startIssuer } from "./oauth-fixture.ts";
import { applications, newcomer, signedIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
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

const keysPath = "/api/account/api-keys";
const clientsPath = "/api/account/clients";
const applicationsPath = "/api/v1/oauth/applications";
const invitationsPath = "/api/v1/invitations/";
/** With a link to pass on by hand, which its answer shows. */
const newInvitation = { scopes_max: ["account:read"] };
const able = "account:read account:security account:admin images:read webhooks:read webhooks:write";
const newApplication = { name: "new", type: "server", redirect_uris: ["https://new.example/"], scopes: [] };

/** An administrator, what they own, and every other kind of credential of their account. */
async function ownerWithCredentials() {
  const { address, idClaims } = await signedIn(account);
  const body = { roles: ["owner", "admin"] };
  await account.send("PATCH", `/api/accounts/${idClaims?.sub}`, { headers: administrator, body });
  const { access_token } = await signedIn(account, { address, scope: `openid ${able}` });
  const headers = bearer(access_token);
  const makeKey = async (...scopes: string[]) =>
    (await account.send("POST", keysPath, { headers, body: { name: "held", scopes } })).body;
  const key = await makeKey("account:security", "account:read");
  const client = await makeClient(account, headers, ["account:security", "account:read"]);
  const tokenFor = async (scope: string) => bearer((await signedIn(account, { address, scope })).access_token);
  const others: Record<string, Record<string, string>> = {
    "a key with one scope": { "x-api-key": (await makeKey("images:read")).key },
    "another key that may do the same": { "x-api-key": key.key },
    "a token with one scope": await tokenFor("openid images:read"),
    "a token of another sign-in": await tokenFor(`openid ${able}`),
    "a service client": bearer((await clientToken(account, client)).access_token),
  };
  const application = await account.send("POST", applicationsPath, { headers, body: newApplication });
  const applicationId = application.body.id as string;
  const invitation = await account.send("POST", invitationsPath, { headers, body: newInvitation });
  const invitationId = invitation.body.id as string;
  return { headers, applicationId, invitationId, keyId: key.id as string, clientId: client.id, others };
}

type Owner = Awaited<ReturnType<typeof ownerWithCredentials>>;

/** A request that shows a secret, for each route whose answer is kept sealed. */
const requests: Record<string, (owner: Owner) => { path: string; body?: object }> = {
  "POST /api/account/api-keys": () => ({ path: keysPath, body: { name: "new", scopes: ["account:security"] } }),
  "POST /api/account/api-keys/:key_id/rotate": ({ keyId }) => ({ path: `${keysPath}/${keyId}/rotate`, body: {} }),
  "POST /api/account/clients": () => ({ path: clientsPath, body: { name: "new", scopes: ["account:security"] } }),
  "POST /api/account/clients/:client_id/secret/rotate": ({ clientId }) => ({
    path: `${clientsPath}/${clientId}/secret/rotate`,
    body: {},
  }),
  "POST /api/account/recovery-codes": () => ({ path: "/api/account/recovery-codes" }),
  "POST /api/accounts": () => ({
    path: "/api/accounts/",
    body: { display_name: "Customer", scopes_max: ["account:read"], key: { name: "first", scopes: ["account:read"] } },
  }),
  "POST /api/v1/invitations": () => ({ path: invitationsPath, body: newInvitation }),
  "POST /api/v1/invitations/:invitation_id/resend": ({ invitationId }) => ({
    path: `${invitationsPath}${invitationId}/resend`,
  }),
  "POST /api/v1/webhooks/portal-sessions": () => ({
    path: "/api/v1/webhooks/portal-sessions",
    body: { endpoint_ids: ["whe_01kdzq5a7m2n4p6q8r0s1t3v5w"] },
  }),
  "POST /api/v1/oauth/applications": () => ({ path: applicationsPath, body: newApplication }),
  "POST /api/v1/oauth/applications/:application_id/secret/rotate": ({ applicationId }) => ({
    path: `${applicationsPath}/${applicationId}/secret/rotate`,
    body: {},
  }),
};

test("every route whose answer is kept sealed is in this table", () => {
  const sealed = openInside(account).edges.routes.list.filter(({ spec }) => spec.idempotent === "sealed");
  const names = sealed.map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\/$/, "")}`);
  assert.deepEqual(names.sort(), Object.keys(requests).sort());
});

for (const [operation, requestOf] of Object.entries(requests)) {
  test(`the kept answer of ${operation} goes to no other credential of the account`, async () => {
    const owner = await ownerWithCredentials();
    const { path, body } = requestOf(owner);
    const send = (headers: Record<string, string>, key: string) =>
      account.send("POST", path, { headers: { ...headers, "idempotency-key": key }, body });
    const key = randomUUID();
    const first = await send(owner.headers, key);
    assert.ok(first.status === 200 || first.status === 201, `${first.status}`);
    const { key: own, client_secret: ofClient, api_key: firstKey, url, codes } = first.body;
    const secret = own ?? ofClient ?? firstKey?.key ?? url ?? codes?.[0];
    assert.ok(secret);
    for (const [who, headers] of Object.entries(owner.others)) {
      const answer = await send(headers, key);
      assert.ok(answer.status === 403 || answer.status === 409, `${who}: ${answer.status}`);
      assert.equal(JSON.stringify(answer.body).includes(secret), false, who);
    }
    assert.deepEqual((await send(owner.headers, key)).body, first.body);
  });
}
