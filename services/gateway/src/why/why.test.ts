import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskServices } from "../operating/ask-services.ts";
import { why } from "./why.ts";

const id = "whd_01kdzq7c9p4r6s8t0v2w5x7y1z";
const asking = { caller: {}, signal: new AbortController().signal } as never;
const step = {
  at: null,
  service: "images",
  id,
  what: "An image.",
  verdict: "done",
  reason: null,
  by: null,
  link: null,
};
const reason = "A service that this request needs does not respond.";

/** Services that know these steps, while those named do not answer. */
function whyOf(steps: readonly object[], away: readonly string[]) {
  const getAll = async () => ({
    answers: [{ steps, next: [] }],
    unavailable: away.map((service) => ({ service, message: reason })),
  });
  return why({ getAll } as unknown as AskServices, id, asking);
}

test("what a service that is away knows is a hole beside what the others know", async () => {
  const told = await whyOf([step], ["webhook-delivery"]);
  const holes = told.filter(({ verdict }) => verdict === "hole");
  assert.deepEqual(
    holes.map(({ service, what }) => [service, what]),
    [["webhook-delivery", "Information from webhook-delivery is missing here."]],
  );
  assert.equal(told.length, 2);
});

test("an unknown id is missing only if every service answered, otherwise unavailable", async () => {
  await assert.rejects(whyOf([], ["account", "webhook-delivery"]), {
    code: "unavailable",
    message: "Nothing is known about this id at the moment: account, webhook-delivery did not respond.",
    retryAfterSeconds: 5,
  });
  assert.deepEqual(await whyOf([], []), []);
});
