import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serverAudits } from "graphql-http";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

/** GraphQL over HTTP in the words of its reference suite: 61 audits, the recommended and the optional ones included. */
test("every audit of graphql-http passes", async () => {
  const audits = serverAudits({ url: () => `${gateway.url}/graphql`, fetchFn: fetch });
  assert.equal(audits.length, 61);
  const failed: string[] = [];
  for (const audit of audits) {
    const result = await audit.fn();
    if (result.status !== "ok") failed.push(`${audit.id} ${audit.name}: ${result.status} ${result.reason}`);
  }
  assert.deepEqual(failed, []);
});
