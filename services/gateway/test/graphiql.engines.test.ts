import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

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
