import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer, clientToken, makeClient, startIssuer } from "./oauth-fixture.ts";
import { applications, signedIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const send = (method: string, path: string, headers = administrator) => account.send(method, path, { headers });
const statusWith = async (headers: Record<string, string>) => (await send("GET", "/api/account/", headers)).status;
const refused = (headers: Record<string, string>) => eventually(async () => (await statusWith(headers)) === 401);

/** A person with an API key, a service client and a sign-in. */
async function person() {
  const signIn = await signedIn(account, { scope: "openid offline_access account:read account:security" });
  const headers = bearer(signIn.access_token);
  const body = { name: "key", scopes: ["account:read"] };
  const key = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  const client = await makeClient(account, headers, ["account:read"]);
  const id = String(signIn.idClaims?.sub);
  return { ...signIn, id, at: `/api/accounts/${id}`, headers, key, withKey: { "x-api-key": key.key }, client };
}

type Person = Awaited<ReturnType<typeof person>>;

async function auditOf({ at }: Person) {
  const { items } = (await send("GET", `${at}/audit/`)).body;
  type Entry = { action: string; subject: string | null; actor: { kind: string } };
  return items.map(({ action, subject, actor }: Entry) => [action, subject, actor.kind]);
}

/** Waits for a mail to the person whose subject or text has these words. */
const mailWith = ({ address }: Person, words: string) =>
  eventually(() =>
    account.mailbox.mails.some(({ to, subject, text }) => to === address && `${subject}\n${text}`.includes(words)),
  );

test("an administrator ends another account's key, client and sign-in, and its owner and the audit are told", async () => {
  const owner = await person();
  const { at, key, client } = owner;
  const token = bearer((await clientToken(account, client)).access_token);
  const [keys, clients, signIns] = await Promise.all(
    ["api-keys", "clients", "sign-ins"].map(async (list) => (await send("GET", `${at}/${list}/`)).body.items),
  );
  assert.deepEqual([keys[0].id, keys[0].key, clients[0].id], [key.id, undefined, client.id]);
  const signIn = signIns[0].id;
  const ends = [
    [`api-keys/${key.id}`, owner.withKey, key.id],
    [`clients/${client.id}`, token, client.id],
    [`sign-ins/${signIn}`, owner.headers, signIn],
  ] as const;
  for (const [path, headers, id] of ends) {
    assert.equal(await statusWith(headers), 200, path);
    assert.equal((await send("DELETE", `${owner.at}/${path}`)).status, 204, path);
    await refused(headers);
    await mailWith(owner, `Id: ${id}\n`);
  }
  await assert.rejects(openid.refreshTokenGrant(owner.configuration, owner.refresh_token ?? ""));
  const by = "administrator";
  const entries: string[][] = (await auditOf(owner)).filter(([, , actor]: string[]) => actor === by).reverse();
  const isRead = ([action]: string[]) => action?.startsWith("account.read_");
  assert.deepEqual(
    entries
      .filter(isRead)
      .map(([action]) => action)
      .toSorted(),
    ["account.read_api_keys", "account.read_clients", "account.read_sign_ins"],
  );
  assert.deepEqual(
    entries.filter((entry) => !isRead(entry)),
    [
      ["api_key.revoke", key.id, by],
      ["client.revoke", client.id, by],
      ["sign_in.end", signIn, by],
    ],
  );
});

test("an administrator ends every sign-in of an account at once, even of a suspended one; its key stays", async () => {
  const owner = await person();
  const body = { status: "suspended", reason: "stolen" };
  await account.send("POST", `${owner.at}/status`, { headers: administrator, body });
  assert.equal((await send("DELETE", `${owner.at}/sign-ins/`)).status, 204);
  await refused(owner.headers);
  assert.equal(await statusWith(owner.withKey), 200);
  assert.deepEqual((await auditOf(owner))[0], ["account.sign_out", null, "administrator"]);
  await mailWith(owner, "You were signed out everywhere");
});

test("the graph lists and ends the same, and ending a key again changes nothing", async () => {
  const owner = await person();
  const lists = `{ account(id: "${owner.id}") {
    apiKeys { edges { node { id } } } serviceClients { edges { node { id } } } signIns { edges { node { id current } } } } }`;
  const { apiKeys, serviceClients, signIns } = (await account.query(administrator, lists)).data.account;
  const [signIn] = signIns.edges;
  assert.deepEqual([apiKeys.edges[0].node.id, serviceClients.edges[0].node.id], [owner.key.id, owner.client.id]);
  assert.equal(signIn.node.current, false);
  const end = (field: string, id: string | null, selection: string) => {
    const input = `{ accountId: "${owner.id}"${id === null ? "" : `, id: "${id}"`} }`;
    return account.query(administrator, `mutation { ${field}(input: ${input}) { ${selection} errors { code } } }`);
  };
  for (let count = 0; count < 2; count++) {
    const { data } = await end("revokeAccountApiKey", owner.key.id, "createdLive apiKey { status }");
    assert.deepEqual(data.revokeAccountApiKey, { createdLive: 0, apiKey: { status: "revoked" }, errors: [] });
  }
  const client = await end("revokeAccountServiceClient", owner.client.id, "serviceClient { status }");
  assert.equal(client.data.revokeAccountServiceClient.serviceClient.status, "revoked");
  await end("endAccountSignIn", signIn.node.id, "account { id }");
  await refused(owner.headers);
  await end("signOutAccount", null, "account { id }");
  const actions = (await auditOf(owner)).slice(0, 4).map(([action]: string[]) => action);
  assert.deepEqual(actions, ["account.sign_out", "sign_in.end", "client.revoke", "api_key.revoke"]);
});

test("without a recent sign-in, or of another account's credential, nothing is ended", async () => {
  const [owner, other] = [await person(), await person()];
  assert.equal((await send("DELETE", `${other.at}/api-keys/${owner.key.id}`)).status, 404);
  assert.equal((await send("DELETE", `/api/accounts/acc_x/api-keys/${owner.key.id}`)).status, 404);
  const body = { name: "helper", scopes: ["account:admin"] };
  const made = await account.send("POST", "/api/account/api-keys/", { headers: administrator, body });
  const stale = { "x-api-key": made.body.key };
  for (const path of [`api-keys/${owner.key.id}`, `clients/${owner.client.id}`, "sign-ins/sgn_x", "sign-ins/"]) {
    const { status, body: answer } = await send("DELETE", `${owner.at}/${path}`, stale);
    assert.deepEqual([status, answer.error.details[0].code], [403, "step_up_required"], path);
  }
  assert.equal(await statusWith(owner.withKey), 200);
});
