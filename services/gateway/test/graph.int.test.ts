import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clientAddressHeader, encodePrincipal, principalHeader } from "@signalbox/http";
import { testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const codesOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
  body.errors?.map(({ extensions }) => extensions.code);
const joined = `{ viewer { id displayName images(first: 5) { edges { cursor node { id filename } } }
  webhookEndpoints { edges { cursor } } } serverSettings { locale } }`;

test("subgraphs get the verified principal, the request id and the client's address, never the credential", async () => {
  await gateway.query(person, joined, { headers: { "x-request-id": "asked-as-this" } });
  for (const name of ["account", "images", "config", "webhook-delivery"] as const) {
    const headers = gateway.subgraphs.get(name)?.heard.at(-1);
    assert.equal(headers?.["x-request-id"], "asked-as-this", name);
    assert.equal(headers?.authorization, undefined, name);
    assert.equal(headers?.[clientAddressHeader], "127.0.0.1", name);
    const principal = JSON.parse(Buffer.from(String(headers?.[principalHeader]), "base64url").toString());
    assert.equal(principal.accountId, person.accountId, name);
  }
});

test("a principal that the caller sends along is not believed", async () => {
  const forged = { [principalHeader]: encodePrincipal(testPerson({ accountId: "acc_somebody_else" }).principal) };
  const anonymous = await gateway.query(null, "{ viewer { id } }", { headers: forged });
  assert.deepEqual([anonymous.body.data, codesOf(anonymous)], [{ viewer: null }, ["UNAUTHENTICATED"]]);
  const own = await gateway.query(person, "{ viewer { id } }", { headers: forged });
  assert.equal(own.body.data.viewer.id, person.accountId);
});

test("anonymous callers read the server settings but nothing of an account", async () => {
  const settings = await gateway.query(null, "{ serverSettings { server { name } limits { pageSize } } }");
  assert.deepEqual(settings.body.data.serverSettings, { server: { name: "Signalbox" }, limits: { pageSize: 100 } });
  assert.equal((await gateway.query(null, "{ viewer { id } }", { headers: bad })).status, 401);
});
const bad = { authorization: "Bearer rubbish" };

test("the owner of a disabled account sees the account alone; a deleted one is let in nowhere", async () => {
  const disabled = testPerson({ state: "disabled" });
  const viewer = await gateway.query(disabled, "{ viewer { id } }");
  assert.deepEqual([viewer.status, viewer.body], [200, { data: { viewer: { id: disabled.accountId } } }]);
  const { status, body } = await gateway.query(disabled, "{ viewer { images { edges { cursor } } } }");
  const [{ extensions, path }] = body.errors;
  assert.deepEqual([status, extensions.code, path], [200, "FORBIDDEN", ["viewer", "images"]]);
  assert.deepEqual(body.data, { viewer: { images: null } });
  assert.equal((await gateway.query(testPerson({ state: "deleted" }), "{ viewer { id } }")).status, 403);
});

test("a page above the maximum is refused with the path of the client, aliases included", async () => {
  const answer = await gateway.query(person, "{ me: viewer { id pictures: images(first: 101) { edges { cursor } } } }");
  assert.deepEqual(codesOf(answer), ["VALIDATION_FAILED"]);
  assert.deepEqual(answer.body.errors[0].path, ["me", "pictures"]);
  assert.match(answer.body.errors[0].message, /100/);
});

test("an error keeps its stable code, or is INTERNAL with the request id", async () => {
  const known = await gateway.query(person, "{ viewer { timezone } }");
  assert.deepEqual([codesOf(known), known.body.errors[0].message], [["NOT_FOUND"], "There is no time zone."]);
  const inner = await gateway.query(person, "{ viewer { locale } }", { headers: { "x-request-id": "find-me" } });
  assert.deepEqual(inner.body.errors[0].extensions, { code: "INTERNAL", request_id: "find-me" });
  assert.ok(!/10\.1\.2\.3|ECONN|5432|account/.test(JSON.stringify(inner.body.errors)), inner.text);
});

test("a field that wants a recent sign-in challenges the client, as RFC 9470 says", async () => {
  const mutation = "mutation { signOutEverywhere { account { id } } }";
  const refused = await gateway.query(testPerson({ authTimeMs: 0 }), mutation);
  assert.equal(refused.body.errors[0].extensions.details[0].code, "step_up_required");
  const challenge = refused.headers.get("www-authenticate") ?? "";
  assert.match(challenge, /^Bearer .*error="insufficient_user_authentication".* max_age="900"$/);
  const good = await gateway.query(person, mutation);
  assert.deepEqual([good.body.errors, good.headers.get("www-authenticate")], [undefined, null]);
});
