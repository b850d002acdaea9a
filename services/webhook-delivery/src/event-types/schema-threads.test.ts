import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isAppError } from "@signalbox/core";
import { SchemaThreads } from "./schema-threads.ts";

let nowMs = 0;
const threads = new SchemaThreads(() => nowMs);
after(() => threads.close());

const slow = { schema: '{"pattern":"^(a+)+$"}', data: [JSON.stringify(`${"a".repeat(40)}!`)], checkMsMax: 50 };
const quick = { schema: '{"type":"integer"}', data: ["1", '"1"'], checkMsMax: 50 };
const ask = async (accountId: string, question = slow) => (await threads.ask(accountId, question)).answer;

test("slow schemas hold up neither this thread nor another account", async () => {
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  const slowOnes = ["one", "two", "one", "two", "one"].map((accountId) => ask(accountId).finally(note("slow")));
  const turn = new Promise((resolve) => setImmediate(resolve)).then(note("event loop"));
  const other = ask("other", quick).then(note("other"));
  await Promise.allSettled([...slowOnes, turn, other]);
  assert.equal(order[0], "event loop");
  // Each of the other two accounts has one check in hand, and the rest of theirs are behind.
  assert.ok(order.indexOf("other") < 3, order.join());
});

test("each datum has its own answer, and a schema that cannot be compiled says why", async () => {
  const misfit = { pointer: "", message: "must be integer" };
  assert.deepEqual(await ask("account", quick), { outcome: "checked", misfits: [null, misfit] });
  const unusable = await ask("account", { ...quick, schema: '{"type":"nothing"}' });
  assert.equal(unusable.outcome, "unusable");
});

test("an account that has used its time is refused until its second is over", async () => {
  const refusals = await Promise.all(
    Array.from({ length: 12 }, () =>
      ask("greedy").then(
        () => null,
        (error: unknown) => error,
      ),
    ),
  );
  const refused = refusals.filter((refusal) => refusal !== null);
  assert.ok(refused.length > 0 && refused.length < 12);
  assert.ok(refused.every((error) => isAppError(error) && error.code === "rate_limited" && error.retryAfterSeconds));
  assert.equal((await ask("modest", quick)).outcome, "checked");
  nowMs += 10_000;
  assert.equal((await ask("greedy", quick)).outcome, "checked");
});

test("a thread that fails or does not come to an end is replaced", async () => {
  await assert.rejects(ask("wrong", { ...quick, schema: "{" }), SyntaxError);
  assert.equal((await ask("wrong", quick)).outcome, "checked");
  const answer = await ask("stuck", { ...slow, checkMsMax: 600_000 });
  assert.deepEqual(answer, { outcome: "timeout", reason: "check-timeout" });
  assert.equal((await ask("next", quick)).outcome, "checked");
});
