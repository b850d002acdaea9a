import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { lintOpenApi } from "@signalbox/infra/checks/lint-openapi.ts";
import { openApiDocuments } from "@signalbox/infra/generate/openapi/openapi-documents.ts";
import { createClient, expectStatus } from "../journey/client.ts";
import { documentedServices } from "../rubbish/published-routes.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";

const opened = new AsyncDisposableStack();
let system: EmbeddedSystem;

before(async () => {
  system = await startEmbeddedSystem();
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
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
