import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());
afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

/** The one line of the request with this id, without what every request has. */
async function lineOf(requestId: string) {
  const line = await eventually(
    () => gateway.context.logged.find((one) => one.request_id === requestId && one.msg === "request") ?? null,
  );
  return {
    operationType: line.operation_type,
    operationName: line.operation_name,
    outcome: line.outcome,
    errorCodes: line.error_codes,
    errors: line.errors,
    failedSubgraphs: line.failed_subgraphs,
    slowFetches: line.slow_fetches,
  };
}

const ask = (requestId: string, query: string) =>
  gateway.query(person, query, { headers: { "x-request-id": requestId } });

test("the line of a request says which operation it was and what came of it, though the status is 200", async () => {
  await ask("r-ok", "query Mine { viewer { id } }");
  assert.deepEqual(await lineOf("r-ok"), {
    operationType: "query",
    operationName: "Mine",
    outcome: "ok",
    errorCodes: undefined,
    errors: undefined,
    failedSubgraphs: undefined,
    slowFetches: undefined,
  });
  await ask("r-refused", "query Wrong { nothing }");
  const refused = await lineOf("r-refused");
  assert.deepEqual(
    [refused.operationType, refused.outcome, refused.errorCodes],
    ["unknown", "refused", ["VALIDATION_FAILED"]],
  );
  await ask("r-long", `query ${"n".repeat(500)} { viewer { id } }`);
  assert.equal(String((await lineOf("r-long")).operationName).length, 100);
});

test("a subgraph that fails or is slow is named in the line", async () => {
  const images = gateway.subgraphs.get("images") ?? assert.fail();
  images.instead = (_request, response) => void response.writeHead(503).end();
  await ask("r-dead", "query Pictures { viewer { id images { edges { cursor } } } }");
  const dead = await lineOf("r-dead");
  assert.deepEqual([dead.outcome, dead.errorCodes, dead.failedSubgraphs], ["partial", ["UNAVAILABLE"], ["images"]]);
  images.instead = (_request, response) => {
    setTimeout(() => response.end('{"data":{"_entities":[{"images":null}]}}'), 300);
  };
  await ask("r-slow", "{ viewer { images { edges { cursor } } } }");
  const [slowest] = (await lineOf("r-slow")).slowFetches as Record<string, unknown>[];
  assert.equal(slowest?.subgraph, "images");
});

test("operations are counted by type and outcome, and fetches by subgraph and outcome", async () => {
  const endpoints = gateway.subgraphs.get("webhook-delivery") ?? assert.fail();
  endpoints.instead = (_request, response) => void response.end("no json");
  await ask("r-fault", "{ viewer { webhookEndpoints { edges { cursor } } } }");
  await ask("r-mutation", 'mutation { updateAccount(input: { displayName: "x" }) { account { id } } }');
  const text = await gateway.context.metrics.text();
  const counted = (metric: string, labels: string) =>
    assert.match(text, new RegExp(`${metric}_count\\{[^}]*${labels}[^}]*\\} [1-9]`), `${metric} ${labels}`);
  counted("signalbox_graphql_operation_seconds", 'type="query",outcome="partial"');
  counted("signalbox_graphql_operation_seconds", 'type="mutation",outcome="ok"');
  counted("signalbox_graphql_operation_seconds", 'type="unknown",outcome="refused"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="webhook-delivery",outcome="fault"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="images",outcome="unavailable"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="account",outcome="ok"');
});
