import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { KiB } from "@signalbox/core";
import { z } from "zod";
import { errorOf, serveRoutes, testLimits, testPrincipal, testWork } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent } from "../routes/http-response.ts";

async function serveTags(t: TestContext, limit: number) {
  const routes = createRoutes();
  routes.post("/tags", {
    operationId: "postTags",
    summary: "Post tags",
    auth: { scopes: [] },
    audit: { unaudited: "A test." },
    body: { json: z.strictObject({ tags: z.array(z.string()) }) },
    responses: { 204: "empty" },
    handle: () => noContent(),
  });
  const principals = { good: testPrincipal(), other: otherPrincipal() };
  return serveRoutes(t, routes, { principals, rateLimits: testLimits({ work: testWork(limit) }) });
}

function otherPrincipal() {
  const principal = testPrincipal();
  return { ...principal, accountId: "acc_other", credential: { ...principal.credential, id: "key_other" } };
}

const tagsOf = (count: number, tag: unknown) => ({ tags: Array.from({ length: count }, () => tag) });

test("a body with half a million faults is refused with the first hundred of them", async (t) => {
  const { json } = await serveTags(t, 1_000_000_000);
  const answer = await json("/tags", "POST", tagsOf(400_000, 1));
  assert.equal(answer.status, 422);
  const { details = [] } = await errorOf(answer);
  assert.deepEqual([details.length, details.at(-1)?.field], [100, "tags[99]"]);
});

test("texts that cannot be stored are named a hundred at most", async (t) => {
  const { json } = await serveTags(t, 1_000_000_000);
  const { details = [] } = await errorOf(await json("/tags", "POST", tagsOf(1_000, "\0")));
  assert.equal(details.length, 100);
});

test("a large body is taken as a small one is", async (t) => {
  const { json } = await serveTags(t, 1_000_000_000);
  assert.equal((await json("/tags", "POST", tagsOf(20_000, "a tag"))).status, 204);
});

test("refused bodies are charged to their caller, who waits when the budget is used up", async (t) => {
  const { json } = await serveTags(t, 100 * KiB);
  const large = "x".repeat(60 * KiB);
  assert.deepEqual(
    [(await json("/tags", "POST", large)).status, (await json("/tags", "POST", large)).status],
    [400, 400],
  );
  const refused = await json("/tags", "POST", tagsOf(1, "a"));
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "7"]);
  const headers = { authorization: "Bearer other" };
  assert.equal((await json("/tags", "POST", tagsOf(1, "a"), headers)).status, 204);
});
