import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, routes, startConfig } from "./harness.ts";

let config: Harness;
const person = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const [configPath, settingsPath, envPath, statusPath] = routes;
const only = (...scopes: NonNullable<Parameters<typeof testPerson>[0]>["scopes"] & object): TestPerson =>
  testPerson({ scopes });

test("the configuration resource has every member of the contract", async () => {
  const { status, body, headers } = await config.send(person, configPath);
  assert.equal(status, 200);
  assert.deepEqual([body.apiVersion, body.baseUrl], ["v1", "https://signalbox.example"]);
  assert.deepEqual(Object.keys(body.capabilities).sort(), [
    "configStream",
    "graphqlSubscriptions",
    "imageAvif",
    "imageDirectUpload",
    "imageImport",
    "signedUrls",
    "webhooks",
  ]);
  assert.ok(Object.values(body.capabilities).every((value) => typeof value === "boolean"));
  assert.ok(
    Object.values(body.features).every((state) => /^(enabled|disabled|preview|deprecated)$/.test(String(state))),
  );
  assert.equal(body.limits.maxPageSize, 100);
  assert.equal(body.limits.maxUploadBytes, 20 * 1024 * 1024);
  assert.deepEqual(body.defaults, { pageSize: 20, locale: "en" });
  assert.ok(body.supported.locales.includes("en") && body.supported.imageTypes.includes("image/webp"));
  assert.equal(headers.get("cache-control"), "private, max-age=60, stale-while-revalidate=300");
});

test("every capability is announced, because this version has all of them", async () => {
  const { capabilities } = (await config.send(person, configPath)).body;
  assert.deepEqual(
    Object.entries(capabilities).filter(([, isServed]) => !isServed),
    [],
  );
});

test("anonymous callers see server, locale and limits of the settings, authenticated ones also what is enabled", async () => {
  const open = await config.send(null, settingsPath);
  const server = {
    name: "Signalbox",
    baseUrl: "https://signalbox.example",
    supportUrl: null,
    logoUrl: null,
    color: "#0b57d0",
  };
  assert.deepEqual(open.body, { server, locale: "en", limits: { pageSize: 100 } });
  assert.equal(open.headers.get("cache-control"), "public, max-age=60");
  const own = await config.send(person, settingsPath);
  assert.deepEqual(own.body, {
    ...open.body,
    features: { integrations: true, reports: false },
    enabledIntegrations: ["webhooks"],
    deployment: { environment: "development", release: null, commit: null, region: null },
  });
  assert.equal(own.headers.get("cache-control"), "private, max-age=60, stale-while-revalidate=300");
  assert.notEqual(own.headers.get("etag"), open.headers.get("etag"));
});

test("the environment resource names the deployment, its state and its masked configuration", async () => {
  const { body, headers } = await config.send(person, envPath);
  assert.equal(body.status, "up");
  assert.deepEqual(Object.keys(body.deployment).sort(), ["commit", "platform", "region", "release"]);
  assert.match(body.updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(body.configuration["limits.maxPageSize"], 100);
  assert.equal(body.configuration["internal.token"], "******");
  assert.equal(body.links.self, "/api/v1/env/");
  assert.equal(headers.get("cache-control"), "private, no-cache");
});

test("the status is JSON that is never cached", async () => {
  const { body, headers } = await config.send(person, statusPath);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.deepEqual(Object.keys(body).sort(), [
    ...["loaded_at", "pending_restart", "revision", "services", "sources", "stale_flags", "status", "validation"],
  ]);
  assert.equal(body.sources.at(-1), "defaults");
});

test("every answer varies by the relevant request headers", async () => {
  for (const path of routes) {
    assert.equal((await config.send(person, path)).headers.get("vary"), "Accept, Authorization, X-API-Key", path);
  }
});

test("each route requires its own scope, and only the settings are public", async () => {
  const nobody = only();
  const wanted = [
    [configPath, 401, 200, nobody],
    [settingsPath, 200, 200, nobody],
    [envPath, 401, 403, only("env:read")],
    [statusPath, 401, 403, only("config:read")],
  ] as const;
  for (const [path, anonymous, withoutScope, allowed] of wanted) {
    const refused = await config.send(null, path);
    assert.equal(refused.status, anonymous, path);
    if (anonymous === 401) assert.ok(refused.headers.get("www-authenticate"), path);
    assert.equal((await config.send(nobody, path)).status, withoutScope, path);
    assert.equal((await config.send(allowed, path)).status, 200, path);
  }
});

test("an invalid credential is refused everywhere, also where none is required", async () => {
  for (const path of routes) {
    const answer = await config.send(null, path, { headers: { authorization: "Bearer rubbish" } });
    assert.equal(answer.status, 401, path);
  }
});

test("any method but GET and HEAD is 405 and lists the allowed ones", async () => {
  for (const path of routes) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await config.send(person, path, { method });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.match(answer.headers.get("allow") ?? "", /\bGET\b.*\bHEAD\b/);
      assert.equal(answer.body.error.code, "method_not_allowed");
    }
    assert.equal((await config.send(person, path, { method: "HEAD" })).status, 200);
  }
});

test("query parameters and unacceptable media types are refused, a missing slash is not", async () => {
  for (const path of routes) {
    assert.equal((await config.send(person, `${path}?a=1`)).status, 400, path);
    assert.equal((await config.send(person, path, { headers: { accept: "text/html" } })).status, 406, path);
    const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
    assert.equal((await config.send(person, other)).status, 200, other);
  }
});

test("errors of all four routes carry the request id twice, under both names", async () => {
  for (const path of routes) {
    const headers = { "x-request-id": "asked-as-this" };
    const { error } = (await config.send(person, `${path}?a=1`, { headers })).body;
    assert.deepEqual(
      [error.code, error.request_id, error.correlationId],
      ["invalid_request", "asked-as-this", "asked-as-this"],
    );
  }
});
