import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startGateway } from "./harness.ts";

const baseUrl = "https://api.example.com/base";
const healthUrl = "https://status.example.com/";
let gateway: Harness;
before(async () => {
  gateway = await startGateway({ "http.base-url": baseUrl, "http.health-url": healthUrl });
});
after(() => gateway.close());

const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

test("a program finds the version and absolute links at /", async () => {
  for (const accept of [undefined, "*/*", "application/json", "application/json, text/html;q=0.1"]) {
    const answer = await fetch(`${gateway.url}/`, { headers: accept === undefined ? {} : { accept } });
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, accept);
    const { name, version, links } = (await answer.json()) as Record<string, string> & { links: object };
    assert.deepEqual([name, version], ["Signalbox", "unreleased"]);
    assert.deepEqual(links, {
      console: `${baseUrl}/console/`,
      documents: `${baseUrl}/docs`,
      graphql: `${baseUrl}/graphql`,
      schema: `${baseUrl}/schema.graphql`,
      openapi: `${baseUrl}/openapi.json`,
      asyncapi: `${baseUrl}/asyncapi.yaml`,
      api_reference: `${baseUrl}/docs/api`,
      errors: `${baseUrl}/docs/errors`,
      sign_in: `${baseUrl}/oauth`,
      health: healthUrl,
    });
  }
});

test("a browser gets the same links as a page with its own policy", async () => {
  const answer = await fetch(`${gateway.url}/`, { headers: { accept: chromium } });
  assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'sha256-/);
  assert.match(answer.headers.get("vary") ?? "", /Accept/);
  const text = await answer.text();
  const targets = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, target]) => target);
  const documents = [
    "console/",
    "docs",
    "graphql",
    "schema.graphql",
    "openapi.json",
    "asyncapi.yaml",
    "docs/api",
    "docs/errors",
  ];
  assert.deepEqual(targets, [...documents, "oauth", healthUrl]);
});

test("a HEAD of the page gets its head alone", async () => {
  const head = await fetch(`${gateway.url}/`, { method: "HEAD", headers: { accept: chromium } });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});

test("an address without a sign-in of its own does not link to one", async (t) => {
  const other = await startGateway({ "account.issuer.enabled": false });
  t.after(() => other.close());
  const { links } = (await (await fetch(`${other.url}/`)).json()) as { links: Record<string, string> };
  assert.deepEqual([links.sign_in, links.health], [undefined, undefined]);
});

test("nothing but reading is possible at /", async () => {
  const answer = await fetch(`${gateway.url}/`, { method: "POST", body: "{}" });
  assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
});

test("the icon is an icon", async () => {
  const icon = await fetch(`${gateway.url}/favicon.ico`, { headers: { accept: "image/avif,image/*,*/*;q=0.8" } });
  const bytes = Buffer.from(await icon.arrayBuffer());
  assert.deepEqual([icon.headers.get("content-type"), bytes.readUInt32LE(0)], ["image/x-icon", 0x10000]);
});

test("crawlers learn what they may read", async () => {
  const robots = await fetch(`${gateway.url}/robots.txt`);
  assert.match(await robots.text(), /^User-agent: \*\nAllow: \/\$\nAllow: \/docs\nDisallow: \/\n$/);
});
