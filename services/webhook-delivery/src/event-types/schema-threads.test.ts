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

test("a question without an end holds up neither this thread nor another account", async (t) => {
  const own = new SchemaThreads(() => 0, 1_000);
  t.after(() => own.close());
  const order: string[] = [];
  const endless = own.ask("endless", { ...slow, checkMsMax: 600_000 }).finally(() => order.push("endless"));
  const { answer } = await own.ask("other", quick).finally(() => order.push("other"));
  assert.equal(answer.outcome, "checked");
  // Its thread is replaced at last.
  assert.deepEqual((await endless).answer, { outcome: "timeout", reason: "check-timeout" });
  assert.deepEqual(order, ["other", "endless"]);
  for (const accountId of ["one", "two"]) assert.equal((await own.ask(accountId, quick)).answer.outcome, "checked");
});

test("an account does not wait for all questions that others asked before", async (t) => {
  let steadyMs = 0;
  function clock(): number {
    steadyMs += 10_000;
    return steadyMs;
  }
  const own = new SchemaThreads(clock);
  t.after(() => own.close());
  const order: string[] = [];
  const earlier = ["one", "two", "one", "two", "one", "two"].map((id) =>
    own.ask(id, slow).finally(() => order.push(id)),
  );
  const other = own.ask("other", quick).finally(() => order.push("other"));
  await Promise.all([...earlier, other]);
  assert.ok(order.indexOf("other") < 5, order.join());
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

test("a thread that fails is replaced", async () => {
  await assert.rejects(ask("wrong", { ...quick, schema: "{" }), SyntaxError);
  assert.equal((await ask("wrong", quick)).outcome, "checked");
});
