import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";
import fc from "fast-check";
import { type GraphQLFormattedError, getOperationAST, parse, validate } from "graphql";
import type { Executed } from "../src/executor.ts";
import { OperationMaker } from "./operations.ts";
import { supergraphs } from "./supergraphs.ts";
import { TestSupergraph, testCaller } from "./test-supergraph.ts";

/** Number of operations per property. `npm run test:long -- fuzzing` runs ten thousand in all. */
const numRuns = Number(process.env.FEDERATION_RUNS ?? 150);
const choices = fc.array(fc.nat(1_000), { minLength: 4, maxLength: 120, size: "max" });
/** The first choice that makes an operation a mutation. */
const mutationChoice = 1;
const opened = Object.entries(supergraphs).map(([name, source]) => ({ name, graph: new TestSupergraph(source) }));
after(async () => {
  for (const { graph } of opened) await graph.close();
});

for (const { name, graph } of opened) {
  test(`${name}: any operation gets the answer of one merged schema`, async () => {
    await fc.assert(
      fc.asyncProperty(choices, async (made) => {
        const { expected, answer, text } = await bothAnswers(graph, made);
        assert.deepEqual(answer.errors, [], text);
        assert.deepEqual(JSON.parse(answer.data), plain(expected.data), text);
      }),
      { numRuns },
    );
  });

  if (graph.api.getMutationType())
    test(`${name}: mutations run as often as in one merged schema, in the same order`, async () => {
      await fc.assert(
        fc.asyncProperty(choices, async ([, ...made]) => {
          const { mutations } = graph.world;
          mutations.length = 0;
          const { text } = await bothAnswers(graph, [mutationChoice, ...made]);
          const half = mutations.length / 2;
          assert.deepEqual(mutations.slice(0, half), mutations.slice(half), text);
        }),
        { numRuns },
      );
    });

  test(`${name}: failing fields leave the nulls of one merged schema, each with an error`, async () => {
    await fc.assert(
      fc.asyncProperty(choices, fc.integer({ min: 1, max: 1_000 }), async (made, seed) => {
        graph.world.faultSeed = seed;
        try {
          const { expected, answer, text } = await bothAnswers(graph, made);
          const data = JSON.parse(answer.data);
          assert.deepEqual(data, plain(expected.data), text);
          const told = answer.errors.map(({ path }) => nullIn(data, path ?? []));
          const wanted = (expected.errors ?? []).map(({ path }) => nullIn(data, path ?? []));
          assert.deepEqual([...new Set(told)].sort(), [...new Set(wanted)].sort(), text);
        } finally {
          graph.world.faultSeed = 0;
        }
      }),
      { numRuns },
    );
  });

  test(`${name}: a lost fetch costs its own fields alone, each with an error`, async () => {
    await fc.assert(
      fc.asyncProperty(choices, fc.nat(1_000), async (made, seed) => {
        let count = seed;
        graph.instead = ({ subgraph }) =>
          count++ % 3 === 0 ? { loss: { code: "UNAVAILABLE", subgraph, reason: "planted" } } : null;
        try {
          const { expected, answer, text } = await bothAnswers(graph, made);
          const data = JSON.parse(answer.data);
          const told = new Set(answer.errors.map(({ path }) => nullIn(data, path ?? [])));
          assert.ok(!answer.errors.some(({ path }) => path?.length === 0), text);
          assertPart(data, plain(expected.data), [], told, text);
        } finally {
          graph.instead = null;
        }
      }),
      { numRuns },
    );
  });
}

async function bothAnswers(graph: TestSupergraph, made: readonly number[]) {
  const { text, variables } = new OperationMaker(graph.api, made).make();
  const document = parse(text);
  assert.deepEqual(validate(graph.api, document), [], text);
  const operation = getOperationAST(document);
  assert.ok(operation);
  const executor = await graph.open();
  const answer = await executor.execute({ text, document, operation, variables, context: null, caller: testCaller });
  assert.ok("data" in answer, `${JSON.stringify(answer)} ${text}`);
  const expected = await graph.merged(document, variables);
  return { expected, answer: answer as Executed & { errors: readonly GraphQLFormattedError[] }, text };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Finds the null that an error caused in the client's data. */
function nullIn(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  for (const [at, name] of path.entries()) {
    if (value === null) return path.slice(0, at).join(".");
    value = (value as Record<string | number, unknown>)[name];
  }
  return path.join(".");
}

/** Checks that every value equals that of the whole answer, or is null with an error. */
function assertPart(
  value: unknown,
  whole: unknown,
  path: (string | number)[],
  told: ReadonlySet<string>,
  text: string,
): void {
  if (value === null && whole !== null) assert.ok(told.has(path.join(".")), `no error at ${path.join(".")}\n${text}`);
  else if (typeof value === "object" && value !== null) {
    assert.deepEqual(Object.keys(value), Object.keys(whole as object), text);
    for (const [name, member] of Object.entries(value)) {
      const key = Array.isArray(value) ? Number(name) : name;
      assertPart(member, (whole as Record<string | number, unknown>)[key], [...path, key], told, text);
    }
  } else assert.deepEqual(value, whole, `${path.join(".")}\n${text}`);
}
