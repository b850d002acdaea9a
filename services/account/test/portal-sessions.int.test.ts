import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { createMovableClock } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";

type Headers = Record<string, string>;

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const path = "/api/v1/webhooks/portal-sessions";
const endpointId = "whe_01kdzq5a7m2n4p6q8r0s1t3v5w";

async function makeSession(headers: Headers, body: object = {}, on: Harness = account) {
  const { status, body: made } = await on.send("POST", path, { headers, body });
  assert.equal(status, 201, JSON.stringify(made));
  const secret = new URL(made.url).hash.slice(1);
  return { id: made.id as string, made, session: { authorization: `Bearer ${secret}` } };
}

async function keyOf(headers: Headers, scopes: readonly string[], more: object = {}) {
  const { status, body } = await account.send("POST", "/api/account/api-keys/", {
    headers,
    body: { name: "backend", scopes, ...more },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.id as string, headers: { "x-api-key": body.key as string } };
}

const refusalOf = ({ status, body }: Awaited<ReturnType<Harness["send"]>>) => [
  status,
  body.error.details?.[0]?.field ?? null,
  body.error.details?.[0]?.code ?? null,
];

test("a link carries its secret in the fragment, is shown once, and its session reads itself", async () => {
  const headers = account.person();
  const theme = { accent: "#aa3300", radius: 12, scheme: "dark" };
  const wanted = { endpoint_ids: [endpointId], access: "read", expires_in_seconds: 60, theme };
  const { id, made, session } = await makeSession(headers, wanted);
  const url = new URL(made.url);
  assert.deepEqual([url.pathname, url.search], ["/console/portal/", ""]);
  assert.match(url.hash, /^#sbx_portal_[0-9A-Za-z]{36}$/);
  assert.equal(Date.parse(made.expires_at) - Date.parse(made.created_at), 60_000);

  const { body: current } = await account.send("GET", `${path}/current`, { headers: session });
  const { url: _, ...shown } = made;
  assert.deepEqual(current, shown);
  const { body: credential } = await account.send("GET", "/api/account/credential/", { headers: session });
  assert.deepEqual([credential.kind, credential.id, credential.scopes], ["portal", id, ["webhooks:read"]]);
  const { body: list } = await account.send("GET", path, { headers });
  assert.deepEqual(list.items, [shown]);
  const { items: audit } = (await account.send("GET", "/api/account/audit/", { headers })).body;
  assert.ok(audit.some(({ action, subject }: Headers) => action === "portal_session.create" && subject === id));
});

test("every other route of this service refuses a portal session", async () => {
  const { session } = await makeSession(account.person(), { access: "manage" });
  const { body: openapi } = await account.send("GET", "/openapi/account.json");
  const admitted = new Set(["currentPortalSession", "currentCredential"]);
  let count = 0;
  for (const [route, methods] of Object.entries(openapi.paths as Record<string, Record<string, never>>)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, security } = operation as { operationId: string; security?: object[] };
      if (!security || security.length === 0 || admitted.has(operationId)) continue;
      const answer = await account.send(method.toUpperCase(), route.replace(/\{[^}]+\}/g, "x"), {
        headers: session,
        ...(method !== "get" && { body: {} }),
      });
      assert.deepEqual([operationId, ...refusalOf(answer)], [operationId, 403, "authorization", "portal_session"]);
      count++;
    }
  }
  assert.ok(count > 50, `only ${count} routes were asked`);
  for (const text of [
    "{ viewer { id } }",
    'mutation { updateAccount(input: { displayName: "x" }) { account { id } } }',
  ]) {
    const [error] = (await account.query(session, text)).errors;
    assert.equal(error?.extensions.code, "FORBIDDEN", text);
  }
});

test("what a session cannot be is refused with the name of the field, hostile themes among it", async () => {
  const headers = account.person();
  const hostile = [
    "red",
    "#fff",
    "#0b57d0; background: url(https://evil.example)",
    "url(https://evil.example/x)",
    "var(--x)",
    "#0b57d0\n}",
    "</style><script>",
  ];
  const cases: readonly (readonly [body: object, field: string])[] = [
    ...hostile.map((accent) => [{ theme: { accent } }, "theme.accent"] as const),
    [{ theme: { radius: 17 } }, "theme.radius"],
    [{ theme: { radius: "6px" } }, "theme.radius"],
    [{ theme: { scheme: "dark; x" } }, "theme.scheme"],
    [{ theme: { css: "body{}" } }, "theme.css"],
    [{ endpoint_ids: [] }, "endpoint_ids"],
    [{ endpoint_ids: ["acc_1"] }, "endpoint_ids[0]"],
    [{ endpoint_ids: Array(101).fill(endpointId) }, "endpoint_ids"],
    [{ expires_in_seconds: 3601 }, "expires_in_seconds"],
    [{ expires_in_seconds: 59 }, "expires_in_seconds"],
    [{ access: "admin" }, "access"],
  ];
  for (const [body, field] of cases) {
    const answer = await account.send("POST", path, { headers, body });
    assert.equal(answer.status, 422, JSON.stringify(body));
    assert.equal(answer.body.error.details[0].field, field);
  }
});

test("a session has no more rights than its maker, and `manage` needs a recent sign-in or the scope of a key", async () => {
  const headers = account.person();
  const writes = await keyOf(headers, ["webhooks:write"]);
  for (const access of ["read", "write", "manage"]) {
    const answer = await account.send("POST", path, { headers: writes.headers, body: { access } });
    assert.deepEqual(refusalOf(answer), [403, "scope", "scope_required"], access);
  }
  const plain = await keyOf(headers, ["webhooks:read", "webhooks:write"]);
  assert.equal((await makeSession(plain.headers)).made.access, "write");
  const manages = await account.send("POST", path, { headers: plain.headers, body: { access: "manage" } });
  assert.deepEqual(refusalOf(manages), [403, "scope", "scope_required"]);
  const old = account.person({ auth_time: Math.floor(Date.now() / 1000) - 3_600 });
  const late = await account.send("POST", path, { headers: old, body: { access: "manage" } });
  assert.deepEqual(refusalOf(late), [403, "authorization", "step_up_required"]);
  const { session } = await makeSession(plain.headers);
  const nested = await account.send("POST", path, { headers: session, body: {} });
  assert.deepEqual(refusalOf(nested), [403, "authorization", "portal_session"]);
});

test("a session ends no later than the key that made it", async () => {
  const headers = account.person();
  const end = new Date(Date.now() + 120_000).toISOString();
  const key = await keyOf(headers, ["webhooks:read", "webhooks:write"], { expires_at: end });
  assert.equal((await makeSession(key.headers)).made.expires_at, end);
});

test("a session ends when it is deleted, when its key is revoked and when its account is suspended", async () => {
  const headers = account.person();
  const status = async (session: Headers) =>
    (await account.send("GET", `${path}/current`, { headers: session })).status;
  const one = await makeSession(headers);
  assert.equal(await status(one.session), 200);
  const other = await account.send("DELETE", `${path}/${one.id}`, { headers: account.person() });
  assert.equal(other.status, 404, "another account has no such session");
  assert.equal((await account.send("DELETE", `${path}/${one.id}`, { headers })).status, 204);
  assert.equal(await status(one.session), 401);
  assert.equal((await account.send("DELETE", `${path}/${one.id}`, { headers })).status, 204, "again changes nothing");
  const [listed] = (await account.send("GET", path, { headers })).body.items;
  assert.deepEqual([listed.status, listed.ended_at !== null], ["ended", true]);

  const key = await keyOf(headers, ["webhooks:read", "webhooks:write"]);
  const ofKey = await makeSession(key.headers);
  assert.equal(await status(ofKey.session), 200);
  assert.equal((await account.send("DELETE", `/api/account/api-keys/${key.id}`, { headers })).status, 204);
  assert.equal(await status(ofKey.session), 401);

  const ofOwner = await makeSession(headers);
  assert.equal(await status(ofOwner.session), 200);
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const administrator = account.person({ roles: ["admin"] });
  const change = { headers: administrator, body: { status: "suspended", reason: "test" } };
  assert.equal((await account.send("POST", `/api/accounts/${id}/status/`, change)).status, 200);
  await eventually(async () => (await status(ofOwner.session)) === 403);
});

test("an expired link is refused, and the list still says that it has expired", async (t) => {
  const clock = createMovableClock();
  const timed = await startAccount({}, { clock });
  t.after(timed.close);
  const headers = { "x-api-key": await timed.firstKey() };
  const { session } = await makeSession(headers, { endpoint_ids: [endpointId], expires_in_seconds: 60 }, timed);
  assert.equal((await timed.send("GET", `${path}/current`, { headers: session })).status, 200);
  clock.advance(60_000);
  assert.equal((await timed.send("GET", `${path}/current`, { headers: session })).status, 401);
  assert.equal((await timed.send("GET", path, { headers })).body.items[0].status, "expired");
});

test("an administrator's account names the endpoints, since some may have the events of all accounts", async () => {
  const headers = { "x-api-key": await account.firstKey() };
  assert.deepEqual(refusalOf(await account.send("POST", path, { headers, body: {} })), [
    422,
    "endpoint_ids",
    "required",
  ]);
  assert.equal((await makeSession(headers, { endpoint_ids: [endpointId] })).made.status, "active");
});

test("a session names endpoints that its account has", async () => {
  const asked: unknown[] = [];
  const delivery = createServer(async (request, response) => {
    asked.push([request.url, JSON.parse(await text(request))]);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ endpoint_ids: [endpointId] }));
  });
  await new Promise<void>((resolve) => delivery.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(delivery.address() as AddressInfo).port}/prefix`;
  const checking = await startAccount({ "webhook-delivery.internal-url": url });
  try {
    const headers = checking.person();
    const unknown = endpointId.replace("5w", "5x");
    const { made } = await makeSession(headers, { endpoint_ids: [endpointId] }, checking);
    const body = { endpoint_ids: [endpointId, unknown] };
    const refused = await checking.send("POST", path, { headers, body });
    assert.deepEqual(refusalOf(refused), [404, "endpoint_ids[1]", "invalid_value"]);
    const question = `/prefix/internal/accounts/${made.account_id}/known-endpoints`;
    assert.deepEqual(asked, [
      [question, { endpoint_ids: [endpointId] }],
      [question, body],
    ]);
    await makeSession(headers, {}, checking);
    assert.equal(asked.length, 2, "a session of all endpoints asks nothing");
    delivery.closeAllConnections();
    await new Promise((resolve) => delivery.close(resolve));
    assert.equal((await checking.send("POST", path, { headers, body })).status, 503);
  } finally {
    await checking.close();
  }
});
