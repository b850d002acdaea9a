import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openApiDocuments } from "@signalbox/infra/generate/openapi/openapi-documents.ts";
import { lintOpenApi } from "@signalbox/infra/generate/openapi/test/lint-openapi.ts";
import { accessibilityProblems, openBrowser } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";
import { documentedServices } from "./published-routes.ts";

const opened = new AsyncDisposableStack();
let system: EmbeddedSystem;

before(async () => {
  system = await startEmbeddedIn(opened);
});
after(() => opened.disposeAsync());

const documents = [...documentedServices.map((service) => `/openapi/${service}.json`), "/openapi.json"];

for (const path of documents) {
  test(`a linter that we did not write finds nothing in ${path}`, async () => {
    const answer = expectStatus(await createClient(system.baseUrl, system.apiKey)(path), 200);
    assert.equal(answer.json.openapi, "3.1.0");
    assert.ok(Object.keys(answer.json.paths).length > 0);
    assert.deepEqual(await lintOpenApi(path, answer.bytes.toString("utf8")), []);
  });
}

test("a service shows the document that its declarations give, whatever it runs with", async () => {
  for (const [service, { paths, components }] of await openApiDocuments()) {
    const shown = expectStatus(await createClient(system.baseUrl, system.apiKey)(`/openapi/${service}.json`), 200).json;
    // The gateway's own route to the merged document is not among its declared ones.
    const { "/openapi.json": _, ...shownPaths } = shown.paths;
    assert.deepEqual(
      withoutLimits([shownPaths, shown.components.schemas]),
      withoutLimits([paths, components.schemas]),
      service,
    );
  }
});

test("the documents of events and of the graph are served", async () => {
  const read = async (path: string) =>
    expectStatus(await createClient(system.baseUrl)(path), 200).bytes.toString("utf8");
  assert.match(await read("/asyncapi.yaml"), /^asyncapi: 3\.0\.0\n/);
  const schema = await read("/schema.graphql");
  for (const name of ["Query", "Mutation", "Image", "WebhookEndpoint"])
    assert.match(schema, new RegExp(`^type ${name} `, "m"));
  assert.doesNotMatch(schema, /join__/, "how the graph is composed is nobody's business");
});

test("the page of all routes shows each of them, ready to call with a key", async () => {
  await using stack = new AsyncDisposableStack();
  const browser = await openBrowser();
  stack.defer(() => browser.close());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => void (message.type() === "error" && problems.push(message.text())));
  page.on("request", (request) => {
    if (!request.url().startsWith(system.baseUrl)) problems.push(`asked ${request.url()}`);
  });
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto(`${system.baseUrl}/docs/api#viewer`);
  await page.locator("#viewer[open]").waitFor();
  const { paths } = expectStatus(await createClient(system.baseUrl)("/openapi.json"), 200).json;
  const routes = Object.values(paths as Record<string, object>).flatMap((methods) => Object.keys(methods));
  assert.equal(await page.locator("details.route").count(), routes.length);
  await page.getByLabel("API key or access token").fill(system.apiKey);
  await page.locator("#viewer").getByRole("button", { name: "Send" }).click();
  await page.locator("#viewer .answer", { hasText: '"display_name"' }).waitFor();
  for (const id of ["uploadImage", "createWebhookSource", "updateWebhookEndpoint", "configurationStream"]) {
    await page.locator(`[id="${id}"] > summary`).click();
  }
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 360, "it fits a phone");
  assert.deepEqual(problems, []);
});

/** The largest page is a live property, which the declarations do not contain. */
const withoutLimits = (part: object): unknown =>
  JSON.parse(JSON.stringify(part, (name, value) => (name === "maximum" || name === "default" ? undefined : value)));

test("the linter does look: a document with faults has problems", async () => {
  const faulty = { openapi: "3.1.0", info: { title: "Faulty" }, paths: { "/things/{id}": { get: { responses: {} } } } };
  const problems = (await lintOpenApi("faulty", JSON.stringify(faulty))).join("\n");
  for (const rule of ["struct", "path-parameters-defined", "operation-operationId", "security-defined"]) {
    assert.match(problems, new RegExp(`: ${rule}: `));
  }
});
