import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, routes, startConfig } from "./harness.ts";

let config: Harness;
const person = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const [configPath, settingsPath, envPath, statusPath] = routes;

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
