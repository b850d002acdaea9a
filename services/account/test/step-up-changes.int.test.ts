import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startAccount } from "./harness.ts";
import { insertClient, insertPasskey, openInside } from "./inside.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

interface Case {
  /** The body that needs a recent sign-in. */
  readonly wants: object;
  /** A body that the same caller may send without one. */
  readonly harmless: object;
}

const whole = { display_name: "Eve", locale: "en", timezone: "UTC" };
const address = { wants: { contact_address: null }, harmless: { contact_address: "ada@example.org" } };
const renaming = { wants: { name: "other" }, harmless: { name: "before" } };

/** Every route that declares `stepUpFor`. */
const cases: Readonly<Record<string, Case>> = {
  "patch /api/account/": address,
  "put /api/account/": { wants: whole, harmless: { ...whole, ...address.harmless } },
  "patch /api/account/api-keys/:key_id": renaming,
  "patch /api/account/clients/:client_id": renaming,
  "patch /api/account/passkeys/:passkey_id": renaming,
  "patch /api/accounts/:account_id": { wants: { roles: ["operator"] }, harmless: { roles: ["owner"] } },
  "post /api/v1/webhooks/portal-sessions": {
    wants: { access: "manage", endpoint_ids: ["whe_01kdzq5a7m2n4p6q8r0s1t3v5w"] },
    harmless: { access: "write", endpoint_ids: ["whe_01kdzq5a7m2n4p6q8r0s1t3v5w"] },
  },
  "post /api/accounts/:account_id/status": {
    wants: { status: "deleted", reason: "x" },
    harmless: { status: "suspended", reason: "x" },
  },
};

test("a route that names changes which want a recent sign-in refuses them after an old one, and nothing else", async () => {
  const inside = openInside(account);
  const declared = inside.edges.routes.list.filter(
    ({ spec }) => spec.auth !== "anonymous" && spec.auth.stepUpFor !== undefined,
  );
  assert.deepEqual(declared.map(({ method, path }) => `${method} ${path}`).sort(), Object.keys(cases).sort());

  const claims = { sub: crypto.randomUUID(), roles: ["admin"], email: "ada@example.org", email_verified: true };
  const fresh = account.person(claims);
  const made = { name: "before", scopes: ["account:read"] };
  const idOf = async (method: string, path: string, headers = fresh) =>
    (await account.send(method, path, { headers, ...(method === "POST" && { body: made }) })).body.id;
  const own = await idOf("GET", "/api/account/");
  const ids = {
    ":key_id": await idOf("POST", "/api/account/api-keys/"),
    ":client_id": await insertClient(inside, own, ["account:read"]),
    ":passkey_id": await insertPasskey(inside, own),
    ":account_id": await idOf("GET", "/api/account/", account.person()),
  };
  const stale = account.person({ ...claims, auth_time: Math.floor(account.context.clock.nowMs() / 1000) - 901 });
  for (const [operation, { wants, harmless }] of Object.entries(cases)) {
    const [method = "", template = ""] = operation.split(" ");
    const path = Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), template);
    const send = (body: object) => account.send(method.toUpperCase(), path, { headers: stale, body });
    const refused = await send(wants);
    assert.deepEqual([refused.status, refused.body.error?.details[0].code], [403, "step_up_required"], operation);
    const { status } = await send(harmless);
    assert.ok(status === 200 || status === 201, `${operation}: ${status}`);
  }
});

test("the older secret of a client is ended only after a recent sign-in, in REST and in the graph", async () => {
  const claims = { sub: crypto.randomUUID() };
  const fresh = account.person(claims);
  const { id: accountId } = (await account.send("GET", "/api/account/", { headers: fresh })).body;
  const id = await insertClient(openInside(account), accountId, ["account:read"]);
  const at = `/api/account/clients/${id}`;
  const rotated = await account.send("POST", `${at}/secret/rotate`, { headers: fresh, body: {} });
  const stale = account.person({ ...claims, auth_time: Math.floor(account.context.clock.nowMs() / 1000) - 901 });
  const refused = await account.send("DELETE", `${at}/secret/previous`, { headers: stale });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
  const text = `mutation { deletePreviousServiceClientSecrets(input: { id: "${id}" }) { serviceClientId } }`;
  const { errors } = await account.query(stale, text);
  assert.equal(errors[0].extensions.details[0].code, "step_up_required");
  const { secrets } = (await account.send("GET", at, { headers: fresh })).body;
  assert.deepEqual(secrets, rotated.body.secrets);
  assert.equal((await account.send("DELETE", `${at}/secret/previous`, { headers: fresh })).status, 204);
});
