import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const query = "query Locale { serverSettings { locale } }";

test("a browser gets GraphiQL at /graphql, which runs a query and takes everything from this origin", async () => {
  await using opened = new AsyncDisposableStack();
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  const elsewhere: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(gateway.url)) elsewhere.push(request.url());
  });
  const answer = await page.goto(`${gateway.url}/graphql?query=${encodeURIComponent(query)}`);
  const policy = answer?.headers()["content-security-policy"] ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  await page.locator(".graphiql-execute-button").click();
  await page.locator(".result-window", { hasText: '"locale": "en"' }).waitFor();
  await page.getByRole("button", { name: /Documentation Explorer/ }).click();
  await page.locator(".graphiql-doc-explorer", { hasText: "Query" }).waitFor();
  assert.deepEqual(problems, []);
  assert.deepEqual(elsewhere, []);
});

test("who asks for no page gets none, and its files are no way to others", async () => {
  for (const accept of ["*/*", "application/json", "application/graphql-response+json, */*;q=0.5"]) {
    const { headers } = await gateway.get(query, { accept });
    assert.match(headers.get("content-type") ?? "", /json/, accept);
  }
  for (const name of ["package.json", "..%2Fpackage.json", "__proto__"])
    assert.equal((await fetch(`${gateway.url}/graphql/assets/${name}`)).status, 404, name);
});

test("with graphql.graphiql off a browser gets what everybody gets", async () => {
  const off = await startGateway({ "graphql.graphiql": false });
  const { status, body, headers } = await off.get(query, html);
  await off.close();
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.deepEqual([status, body], [200, { data: { serverSettings: { locale: "en" } } }]);
});
