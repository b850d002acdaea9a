import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isAppError } from "@signalbox/core";
import { SchemaThreads } from "../state/schema-threads.ts";
import { checkData, compileSchema } from "./schema-check.ts";

/** Checks data as a request does: a text for what takes too long. */
const checkOf = (schema: object) => {
  const compiled = compileSchema(schema);
  assert.ok(compiled.outcome === "done", JSON.stringify(compiled));
  return (...data: unknown[]) => {
    const checked = checkData(compiled.result, data, 50);
    return checked.outcome === "done" ? (checked.result.find((misfit) => misfit !== null) ?? null) : checked.outcome;
  };
};
const pointerOf = (found: ReturnType<ReturnType<typeof checkOf>>) =>
  found && typeof found !== "string" && found.pointer;

test("a mismatch is reported with its place", () => {
  const check = checkOf({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["order"],
    properties: { order: { $ref: "#/$defs/order" } },
    $defs: { order: { type: "object", properties: { "a/b": { type: "integer" } } } },
  });
  assert.equal(check({ order: { "a/b": 1 } }), null);
  assert.equal(pointerOf(check({ order: { "a/b": "1" } })), "/order/a~1b");
  assert.equal(pointerOf(check({})), "");
});

test("an invalid schema, one of another draft, and one with an outside reference are refused", () => {
  for (const schema of [
    { type: "nothing" },
    { $ref: "https://elsewhere.example/schema.json" },
    { $ref: "#/$defs/none" },
    { $schema: "http://json-schema.org/draft-04/schema#" },
    { pattern: "(" },
    { pattern: "\\p{L}".repeat(201) },
    { patternProperties: { ["\\p{L}".repeat(201)]: {} } },
  ]) {
    assert.equal(compileSchema(schema).outcome, "failed", JSON.stringify(schema));
  }
});

test("a schema of draft-07 is checked by the rules of its draft", () => {
  for (const $schema of [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema#",
  ]) {
    const check = checkOf({
      $schema,
      definitions: { sku: { type: "string", minLength: 2 } },
      type: "object",
      // Only this draft has a list of schemas in `items`.
      properties: { lines: { type: "array", items: [{ $ref: "#/definitions/sku" }, { type: "integer" }] } },
    });
    assert.equal(check({ lines: ["a-1", 2] }), null);
    assert.equal(pointerOf(check({ lines: ["a", 2] })), "/lines/0");
    assert.equal(pointerOf(check({ lines: ["a-1", "2"] })), "/lines/1");
  }
});

test("a schema of an unknown draft is refused with the drafts that are taken", () => {
  for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://shop.example/schema", 7, null]) {
    const compiled = compileSchema({ $schema });
    assert.deepEqual(compiled, {
      outcome: "failed",
      message:
        "`$schema` must be https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema, or absent.",
    });
  }
});

test("the format of a text is not checked", () => {
  const check = checkOf({ type: "object", properties: { mail: { type: "string", format: "email" } } });
  assert.equal(check({ mail: "no address" }), null);
});

test("a schema of 600 members is compiled in time", () => {
  const member = { type: "string", minLength: 1, maxLength: 100, pattern: "^[a-z]+$" };
  const names = Array.from({ length: 600 }, (_, at) => `member_${at}`);
  const check = checkOf({ type: "object", properties: Object.fromEntries(names.map((name) => [name, member])) });
  assert.equal(pointerOf(check({ member_599: "" })), "/member_599");
});

test("a check that would take for ever is ended", () => {
  const slow = checkOf({ type: "string", pattern: "^(a+)+$" });
  assert.equal(slow(`${"a".repeat(40)}!`), "timeout");
  assert.equal(slow("aaa"), null);
  const unique = checkOf({ type: "array", uniqueItems: true });
  assert.equal(unique(Array.from({ length: 100_000 }, (_, at) => ({ at }))), "timeout");
});

test("all data of a request share its time", () => {
  const pattern = `^(?:${Array.from({ length: 40 }, (_, at) => `${"a?".repeat(12)}${"a".repeat(12)}${at}`).join("|")})$`;
  const slow = checkOf({ pattern: pattern.slice(0, 1_000).replace(/\|[^|]*$/, ")$") });
  assert.equal(slow(...Array.from({ length: 10_000 }, () => "a".repeat(24))), "timeout");
});

test("data to which a schema cannot be applied do not fit it", () => {
  assert.equal(pointerOf(checkOf({ $ref: "#" })({})), "");
});

const sleep = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** An object with one member that takes a given time to read, once. */
function slowOnce<T extends object>(of: T, name: string, value: unknown, milliseconds: number, slowAt = 1) {
  let reads = 0;
  const get = () => {
    if (++reads === slowAt) sleep(milliseconds);
    return value;
  };
  return { slow: Object.defineProperty(of, name, { enumerable: true, get }), reads: () => reads };
}

test("time in which the process did not run does not count", () => {
  const check = checkOf(slowOnce({ properties: { order: { type: "integer" } } }, "type", "object", 1_000).slow);
  assert.equal(check(slowOnce({}, "order", 17, 200).slow), null);
  assert.equal(pointerOf(check(slowOnce({}, "order", "17", 200).slow)), "/order");
});

test("a compilation that was interrupted at its last step starts again", () => {
  const schema = () => ({ properties: { order: { type: "integer" } } });
  const quick = slowOnce(schema(), "type", "object", 0);
  checkOf(quick.slow);
  const check = checkOf(slowOnce(schema(), "type", "object", 1_000, quick.reads()).slow);
  assert.equal(pointerOf(check({ order: "17" })), "/order");
});

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

test("a thread that got no processor proves nothing: its question is refused for now, and its schema is not blamed", async (t) => {
  const script = `import { parentPort } from "node:worker_threads";
    parentPort.on("message", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    parentPort.postMessage("ready");`;
  const own = new SchemaThreads(() => 0, 5_000, new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  t.after(() => own.close());
  await assert.rejects(own.ask("one", quick), { code: "unavailable" });
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
