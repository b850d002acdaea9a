import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { memberRoles, type Scope, scopesOfMember, scopesOfRole } from "@signalbox/contracts";
import { routeAccess } from "@signalbox/http";
import * as openid from "openid-client";
import { serviceEdges } from "../src/edges.ts";
import type { Harness } from "./harness.ts";
import { type Headers, type People, peopleOf } from "./member-parts.ts";
import { claimsOf, makeClient, startIssuer } from "./oauth-fixture.ts";
import { applications, startSignIn } from "./oauth-visitor.ts";
import { openContext } from "./open-context.ts";

let account: Harness;
let people: People;
before(async () => {
  account = await startIssuer({
    "account.oauth.applications": applications,
    "http.rate-limit.account.requests": 100_000,
    "http.rate-limit.credential.requests": 100_000,
    "http.rate-limit.credential.burst": 100_000,
  });
  people = peopleOf(account);
});
after(() => account.close());

/** The routes of the service that need a credential, with their declared access. */
async function declaredRoutes() {
  const context = await openContext();
  const { list } = serviceEdges(context.service).routes;
  await context.close();
  return list.flatMap(({ method, path, spec }) => {
    const access = routeAccess(spec.auth, method);
    return access.optional ? [] : [{ operation: `${method.toUpperCase()} ${path}`, method, path, access }];
  });
}

/** Sends a request that changes nothing: it has an empty body, and names nothing that there is. */
async function attempt(method: string, path: string, headers: Headers, ids: Readonly<Record<string, string>> = {}) {
  const query = path.startsWith("/api/v1/invitations") && method === "get" ? "?account_id=mine" : "";
  const named = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "unknown") + query;
  const answer = await people.send(method.toUpperCase(), named, headers, method === "get" ? undefined : {});
  return { ...answer, code: answer.body?.error?.details?.[0]?.code as string | undefined };
}

type Route = Awaited<ReturnType<typeof declaredRoutes>>[number];

/** Asserts that a route lets in who has its scopes, and nobody else. */
function assertByScopes(
  { operation, access: { scopes, scopesOfOwn } }: Route,
  granted: readonly Scope[],
  { status, code = "" }: Awaited<ReturnType<typeof attempt>>,
): void {
  const hasAll = (needed: readonly Scope[]) => needed.every((one) => granted.includes(one));
  if (hasAll(scopes)) assert.ok(!["scope_required", "not_owner"].includes(code), operation);
  else if (scopesOfOwn === null || !hasAll(scopesOfOwn))
    assert.deepEqual([status, code], [403, "scope_required"], operation);
  else assert.notEqual(status, 401, operation);
}

for (const role of memberRoles) {
  test(`a member with the role ${role} may use the routes of the role's scopes, but for those of the account's person`, async () => {
    const { acting } = await people.joined(role);
    for (const route of await declaredRoutes()) {
      const answer = await attempt(route.method, route.path, acting);
      if (route.access.ownAccount) assert.deepEqual([answer.status, answer.code], [403, "not_owner"], route.operation);
      else assertByScopes(route, scopesOfMember(role), answer);
    }
  });
}

test("the account's own person may use the routes of an owner's scopes", async () => {
  let owner = await people.person();
  for (const route of await declaredRoutes()) {
    const answer = await attempt(route.method, route.path, owner.headers);
    assertByScopes(route, scopesOfRole("owner"), answer);
    // What the route has done may have ended the account or its sign-in.
    if (route.method !== "get" && answer.status < 300) owner = await people.person();
  }
});

test("a former member is refused at every route", async () => {
  const { owner, acting, row } = await people.joined("owner");
  assert.equal((await people.send("DELETE", `/api/account/members/${row.id}`, owner.headers)).status, 204);
  for (const { operation, method, path } of await declaredRoutes()) {
    assert.equal((await attempt(method, path, acting)).status, 401, operation);
  }
});

test("a former member finds nothing of the account by the ids of its things, signed in as themselves", async () => {
  const { owner, member, row, invitation } = await people.joined("owner");
  assert.equal((await people.send("DELETE", `/api/account/members/${row.id}`, owner.headers)).status, 204);
  const { id: client_id } = await makeClient(account, owner.headers, ["account:read"]);
  const ids = { account_id: owner.id, client_id, membership_id: row.id, invitation_id: invitation.id };
  for (const { operation, method, path } of (await declaredRoutes()).filter((route) => route.path.includes(":"))) {
    const { status, body: shown } = await attempt(method, path, member.headers, ids);
    assert.ok(status >= 400 && status < 500, `${operation} ${status}`);
    assert.ok(!JSON.stringify(shown).includes(owner.address), operation);
  }
});

test("a stranger finds nothing of an account by the ids of its things", async () => {
  const { owner, row, invitation, member } = await people.joined("viewer");
  const { headers } = owner;
  const body = { name: "theirs", scopes: ["account:read"] };
  const key = (await people.send("POST", "/api/account/api-keys/", headers, body)).body;
  const { id: client_id } = await makeClient(account, headers, ["account:read"]);
  const ids = { account_id: owner.id, key_id: key.id, client_id, membership_id: row.id, invitation_id: invitation.id };
  const marks = [owner.address, ...Object.values(ids)];
  const stranger = await people.person();
  for (const { operation, method, path } of (await declaredRoutes()).filter((route) => route.path.includes(":"))) {
    const { status, body: shown } = await attempt(method, path, stranger.headers, ids);
    assert.ok(status >= 400 && status < 500, `${operation} ${status}`);
    assert.deepEqual(
      marks.filter((mark) => JSON.stringify(shown).includes(mark)),
      [],
      operation,
    );
  }
  const kept = (await people.send("GET", "/api/account/members/", headers)).body.items;
  assert.deepEqual([kept[0].id, kept[0].member_id, kept[0].role], [row.id, member.id, "viewer"]);
});

test("a service client gets no token for another account", async () => {
  const [owner, stranger] = [await people.person(), await people.person()];
  const { id, secret } = await makeClient(account, stranger.headers, ["account:read"]);
  const { configuration } = await startSignIn(account);
  const own = new openid.Configuration(configuration.serverMetadata(), id, undefined, openid.ClientSecretBasic(secret));
  own[openid.customFetch] = configuration[openid.customFetch] as openid.CustomFetch;
  const { access_token } = await openid.clientCredentialsGrant(own, { account: owner.id });
  assert.equal(claimsOf(access_token).account_id, stranger.id);
});

test("nothing that a member sends after the removal is done, even while requests of theirs run", async () => {
  const { owner, acting, row } = await people.joined("developer");
  const rename = (display_name: string) => people.send("PATCH", "/api/account/", acting, { display_name });
  const running = Array.from({ length: 10 }, (_, at) => rename(`during ${at}`));
  assert.equal((await people.send("DELETE", `/api/account/members/${row.id}`, owner.headers)).status, 204);
  const late = await Promise.all(Array.from({ length: 5 }, (_, at) => rename(`after ${at}`)));
  assert.deepEqual(new Set(late.map(({ status }) => status)), new Set([401]));
  await Promise.all(running);
  assert.doesNotMatch((await people.send("GET", "/api/account/", owner.headers)).body.display_name, /after/);
});
