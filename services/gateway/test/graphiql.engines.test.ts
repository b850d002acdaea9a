import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, openBrowser, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";
import { changeImage } from "./live-client.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

/** The account service is not there. */
const issuerAt = (origin: string) => ({ issuer: `${origin}/oauth`, scopes_supported: ["openid"] });
const metadata = "**/oauth/.well-known/openid-configuration";

const query = "query Locale { serverSettings { locale } }";

test("GraphiQL at /graphql runs a query with nothing from another origin", async () => {
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
  await page.route(metadata, (route) => route.fulfill({ json: issuerAt(gateway.url) }));
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

test("GraphiQL opens with three examples, ready to run with a key in its field", async () => {
  await using opened = new AsyncDisposableStack();
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.route(metadata, (route) => route.fulfill({ json: issuerAt(gateway.url) }));
  await page.goto(`${gateway.url}/graphql`);
  const tab = (name: string) => page.locator(".graphiql-tab", { hasText: new RegExp(`^${name}`) });
  for (const name of ["Me", "Rename", "Images"]) await tab(name).waitFor();
  const person = testPerson();
  await page.getByLabel("API key or access token").fill(person.token);
  await tab("Images").getByRole("button").first().click();
  await page.locator(".graphiql-execute-button").click();
  const result = page.locator(".result-window");
  // The subscription begins at some moment: changes are made until one has arrived.
  await eventually(async () => {
    await changeImage(gateway, person.accountId, ["title"]);
    return (await result.textContent())?.includes('"imageChanged"') ?? false;
  });
  const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
  assert.ok(!String(kept).includes(person.token), "the credential is nowhere but in the page");
  assert.deepEqual(problems, []);
});

test("an answer that belongs to no sign-in of the page signs nobody in, nor stays in the address", async () => {
  await using opened = new AsyncDisposableStack();
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  await page.route(metadata, (route) => route.fulfill({ json: issuerAt(gateway.url) }));
  const forged = new URLSearchParams({ code: "forged", state: "of another page", iss: `${gateway.url}/oauth` });
  await page.goto(`${gateway.url}/graphql/signed-in?${forged}`);
  await page.getByText("You are not signed in: this answer belongs to no sign-in of this page.").waitFor();
  assert.equal(page.url(), `${gateway.url}/graphql`);
  assert.equal(await page.getByLabel("API key or access token").inputValue(), "");
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  await page.locator(".graphiql-execute-button").waitFor();
});

test("at another name of the machine than the issuer's, the page leads to where a sign-in can return", async () => {
  await using opened = new AsyncDisposableStack();
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  await page.route(metadata, (route) => route.fulfill({ json: issuerAt("https://signalbox.example") }));
  await page.goto(`${gateway.url}/graphql`);
  await page.getByText("You can sign in at https://signalbox.example/graphql").waitFor();
  const link = page.getByRole("link", { name: "https://signalbox.example/graphql" });
  assert.equal(await link.getAttribute("href"), "https://signalbox.example/graphql");
  assert.equal(await page.getByRole("button", { name: "Sign in", exact: true }).count(), 0);
});

test("where another issuer signs people in there is no button", async () => {
  await using opened = new AsyncDisposableStack();
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  const front = page.waitForResponse(`${gateway.url}/`);
  await page.route(`${gateway.url}/`, (route) => route.fulfill({ json: { links: {} } }));
  await page.goto(`${gateway.url}/graphql`);
  await (await front).finished();
  await page.locator(".graphiql-execute-button").waitFor();
  assert.equal(await page.getByRole("button", { name: "Sign in", exact: true }).count(), 0);
});
