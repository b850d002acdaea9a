import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibilityProblems, openBrowser } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

let gateway: Harness;
let browser: Browser;
before(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
  await gateway.close();
});

/** The document of all services is made of what they publish; here one route stands for them. */
const document = {
  openapi: "3.1.0",
  info: { title: "Signalbox", version: "1" },
  tags: [{ name: "graphql", description: "The graph." }],
  paths: {
    "/graphql": {
      post: {
        operationId: "runOperation",
        summary: "Run an operation",
        description: "Runs it.",
        tags: ["graphql"],
        security: [{ apiKey: [] }],
        parameters: [{ $ref: "#/components/parameters/RequestId" }],
        requestBody: {
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Request" },
              example: { query: "{ serverSettings { locale } }" },
            },
          },
        },
        responses: { 200: { description: "Success.", content: { "application/json": { schema: {}, example: {} } } } },
      },
    },
  },
  components: {
    parameters: {
      RequestId: { in: "header", name: "X-Request-Id", description: "Returned.", schema: { type: "string" } },
    },
    schemas: {
      Request: {
        type: "object",
        required: ["query"],
        properties: {
          query: { type: "string", description: "The document." },
          again: { anyOf: [{ $ref: "#/components/schemas/Request" }, { type: "null" }] },
        },
      },
    },
  },
};

/** The account service is not there. */
const issuer = { issuer: "https://issuer.example/oauth", scopes_supported: ["openid"] };

/** Opens a page that collects what a policy refuses and what another host is asked. */
async function openPage(path: string): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(gateway.url)) problems.push(`asked ${request.url()}`);
  });
  await page.route("**/openapi.json", (route) => route.fulfill({ json: document }));
  await page.route("**/oauth/.well-known/openid-configuration", (route) => route.fulfill({ json: issuer }));
  await page.goto(`${gateway.url}${path}`);
  return { page, problems };
}

test("every kind of page is accessible in light and dark, on a phone too", async () => {
  for (const path of [
    "/",
    "/docs",
    "/docs/how-to",
    "/docs/errors",
    "/docs/how-to/deploy",
    "/docs/reference/webhooks",
    "/docs/api",
  ]) {
    const { page, problems } = await openPage(path);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await accessibilityProblems(page), [], `${path} ${colorScheme}`);
    }
    await page.setViewportSize({ width: 360, height: 640 });
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    assert.ok(Number(overflow) <= 0, `${path} is ${overflow} pixels too wide`);
    assert.deepEqual(problems, [], path);
    await page.close();
  }
});

test("the search leads to words of every page and to routes", async () => {
  const { page, problems } = await openPage("/docs/how-to/deploy");
  await page.getByRole("searchbox").fill("idempotency key repetition safe");
  await page.locator("#results a", { hasText: "Error codes" }).first().waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByRole("searchbox").fill("run an operation");
  await page.locator("#results a", { hasText: "POST /graphql" }).click();
  await page.waitForURL("**/docs/api#runOperation");
  await page.locator("#runOperation[open]").waitFor();
  await page.getByRole("searchbox").fill("zzzz");
  await page.getByText("Nothing was found.").waitFor();
  assert.deepEqual(problems, []);
});

const answers = [
  ["idempotency", "Idempotency-Key"],
  ["dead letter", "DeadLetters"],
  ["HMAC", "Verify deliveries"],
  ["backoff", "Lifecycle of a delivery"],
  ["SSRF", "Codes in details"],
  ["ETag", "Headers and the query"],
  ["cursor", "Lists"],
  ["scope", "Add a scope"],
  ["JWKS", "Connect your identity provider"],
  ["rate limit", "Rate limits"],
  ["feature flag", "Roll out a flag"],
  ["tus", "Direct uploads"],
  ["quickstart", "Get started"],
] as const;

test("words of the field lead first to the page that answers them", async () => {
  const { page } = await openPage("/docs");
  for (const [asked, title] of answers) {
    await page.getByRole("searchbox").fill(asked);
    await page.locator("#results li:first-child a", { hasText: title }).waitFor();
  }
});

test("the first page shows code in colours, with a way to the console", async () => {
  const { page } = await openPage("/docs");
  await page.getByRole("heading", { name: "Get started", level: 1 }).waitFor();
  const colour = (name: string) => page.evaluate(`getComputedStyle(document.querySelector("pre .${name}")).color`);
  assert.notEqual(await colour("keyword"), await colour("text"));
  await page.getByRole("link", { name: "Console" }).waitFor();
  assert.equal(await page.evaluate('document.querySelector("nav li:last-child a").href'), `${gateway.url}/console`);
});

test("a route is shown with members, samples and answers, ready to call with a key", async () => {
  const { page, problems } = await openPage("/docs/api");
  await page.locator("#runOperation > summary").click();
  const route = page.locator("#runOperation");
  await route.getByText("query", { exact: true }).first().waitFor();
  await route.getByText(`curl -X POST '${gateway.url}/graphql'`).waitFor();
  await route.getByText('const answer = await fetch("').waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByLabel("API key or access token").fill("not a key");
  await route.getByRole("button", { name: "Send" }).click();
  await route.locator(".bad", { hasText: "401" }).waitFor();
  await page.getByLabel("API key or access token").fill("");
  await route.getByRole("button", { name: "Send" }).click();
  await route.locator(".answer", { hasText: '"locale": "en"' }).waitFor();
  const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  assert.equal(kept, '[{},{},""]', "the credential is nowhere but in the page");
  assert.deepEqual(
    problems.filter((problem) => !problem.includes("401")),
    [],
  );
});
