import assert from "node:assert/strict";
import { test } from "node:test";
import { createTcpProxy, eventually, type TcpProxy, testDatabase } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";
import { baseUrl } from "./oauth-fixture.ts";
import { applications, createVisitor, startSignIn } from "./oauth-visitor.ts";

const path = "/api/account/";

/** The service with a way to cut one of its own database connections. */
async function behindProxy(
  property: "database.url" | "events.url",
  work: (account: Harness, proxy: TcpProxy) => Promise<void>,
  overrides: Parameters<typeof startAccount>[0] = {},
) {
  const database = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const account = await startAccount({ ...overrides, [property]: proxy.urlFor(database.url) });
  try {
    await work(account, proxy);
  } finally {
    await proxy.accept().catch(() => {});
    await account.close();
    await proxy.close();
    await database.close();
  }
}

test("while its database is down the service answers 503 with Retry-After, then recovers by itself", async () => {
  await behindProxy("database.url", async (account, proxy) => {
    const headers = account.person();
    await account.send("GET", path, { headers });
    await proxy.refuse();
    for (const [method, body] of [["GET"], ["PATCH", { display_name: "Eve" }]] as const) {
      const answer = await account.send(method, path, { headers, ...(body && { body }) });
      assert.equal(answer.status, 503);
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
      assert.ok(
        !JSON.stringify({ ...answer.body.error, doc_url: null }).includes("127.0.0.1"),
        "the answer shows nothing of our insides",
      );
    }
    const unseen = await account.send("GET", path, { headers: account.person() });
    assert.equal(unseen.status, 503);
    await proxy.accept();
    await eventually(
      async () => (await account.send("PATCH", path, { headers, body: { display_name: "Eve" } })).status === 200,
    );
  });
});

test("while the event log is away changes succeed, and their events follow when it is back", async () => {
  await behindProxy("events.url", async (account, proxy) => {
    const headers = account.person();
    const { id } = (await account.send("GET", path, { headers })).body;
    await account.eventsOf(id, 1);
    await proxy.refuse();
    for (const display_name of ["one", "two"]) {
      assert.equal((await account.send("PATCH", path, { headers, body: { display_name } })).status, 200);
    }
    await proxy.accept();
    const [, ...changes] = await account.eventsOf(id, 3);
    assert.deepEqual(
      changes.map(({ data }) => "display_name" in data && data.display_name),
      ["one", "two"],
    );
  });
});

test("while its database is down the built-in issuer answers 503 with Retry-After, and its keys are still published", async () => {
  const work = async (account: Harness, proxy: TcpProxy) => {
    const post = (path: string, form: Record<string, string>) =>
      fetch(`${account.url}/oauth/${path}`, { method: "POST", body: new URLSearchParams(form) });
    const client = { client_id: "cli_x", client_secret: "x" };
    const visitor = createVisitor(account);
    const signIn = await visitor.open((await startSignIn(account)).url);
    await proxy.refuse();
    for (const path of ["token", "introspect", "revoke"]) {
      const answer = await post(path, { ...client, grant_type: "client_credentials", token: "x" });
      assert.equal(answer.status, 503, path);
      assert.ok(Number(answer.headers.get("retry-after")) > 0, path);
      assert.ok(!(await answer.text()).includes("127.0.0.1"), "the answer shows nothing of our insides");
    }
    const page = await visitor.open(signIn.url);
    assert.deepEqual([page.status, page.headers.get("content-type")], [503, "text/html; charset=utf-8"]);
    assert.ok(Number(page.headers.get("retry-after")) > 0);
    assert.equal((await fetch(`${account.url}/oauth/jwks`)).status, 200);
    await proxy.accept();
    await eventually(async () => (await post("token", { ...client, grant_type: "client_credentials" })).status === 401);
  };
  await behindProxy("database.url", work, {
    "auth.issuers": "[]",
    "account.issuer.enabled": true,
    "http.base-url": baseUrl,
    "account.oauth.applications": applications,
  });
});
