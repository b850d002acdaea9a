import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { GraphQLSchema } from "graphql";
import { supergraphs } from "../test/supergraphs.ts";
import { TestSupergraph } from "../test/test-supergraph.ts";
import { createPlanStore } from "./planning/plan-store.ts";
import { openPlanner, PlanRefused } from "./planning/planner.ts";
import { JsonText } from "./writing/json-text.ts";

const { supergraphSdl } = new TestSupergraph(supergraphs.shop);
const isRefused = (code: PlanRefused["code"]) => (error: unknown) =>
  error instanceof PlanRefused && error.code === code;

/** Each level is requested from two subgraphs under many names. */
function hard(depth: number): string {
  if (depth === 0) return "{id handle}";
  const below = hard(depth - 1);
  return `{organization{id size} ${["a", "b", "c", "d"].map((name) => `${name}:friends(first:1)${below}`).join(" ")}}`;
}

test("an operation that takes too long to plan is refused, and those behind it get their plans", async () => {
  const planner = await openPlanner(supergraphSdl, { planMsMax: 200, waitingMax: 10 });
  try {
    const tooHard = planner.plan(`{me${hard(6)}}`);
    const behind = planner.plan("{me{id}}");
    await assert.rejects(tooHard, isRefused("LIMIT_COST"));
    assert.equal((await behind).node?.kind, "Fetch");
  } finally {
    await planner.close();
  }
});

test("more operations than may wait are refused at once, and so are all when it closes", async () => {
  const planner = await openPlanner(supergraphSdl, { planMsMax: 5_000, waitingMax: 1 });
  const first = planner.plan("{me{id}}");
  const second = planner.plan("{me{handle}}");
  assert.throws(() => planner.plan("{me{__typename}}"), isRefused("UNAVAILABLE"));
  await first;
  await second;
  const last = planner.plan("{users(limit:1){id}}");
  const refused = assert.rejects(last, isRefused("UNAVAILABLE"));
  await planner.close();
  await refused;
  assert.throws(() => planner.plan("{me{id}}"), isRefused("UNAVAILABLE"));
});

test("an operation that is being planned is not planned twice, and a refusal is not remembered", async () => {
  let asked = 0;
  const answers = [
    Promise.reject(new PlanRefused("UNAVAILABLE", "Too many.")),
    Promise.resolve({ kind: "QueryPlan" as const }),
  ];
  const planOf = createPlanStore({ plan: () => answers[asked++] ?? assert.fail() }, new GraphQLSchema({}), 1_000_000);
  const [one, two] = [planOf("{a}"), planOf("{a}")];
  await assert.rejects(async () => one, isRefused("UNAVAILABLE"));
  await assert.rejects(async () => two, isRefused("UNAVAILABLE"));
  assert.equal(asked, 1);
  const plan = await planOf("{a}");
  assert.equal(await planOf("{a}"), plan);
  assert.equal(asked, 2);
});

test("what is added stands in its order, and a cut takes back what came later, however much was joined before", () => {
  // Each step adds pieces, then cuts back to a fraction of the length; some steps exceed the number of pieces that are
  // joined at once.
  const step = fc.record({ pieces: fc.nat(1_500), keptShare: fc.constantFrom(0, 0.3, 0.99, 1) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const text = new JsonText();
      let expected = "";
      for (const { pieces, keptShare } of steps) {
        for (let at = 0; at < pieces; at++) {
          const piece = `${at},`;
          text.add(piece);
          expected += piece;
        }
        // Cuts only ever happen at the end of a piece.
        const kept = expected.lastIndexOf(",", Math.floor(expected.length * keptShare)) + 1;
        text.cut(kept);
        expected = expected.slice(0, kept);
        assert.equal(text.length, expected.length);
      }
      assert.equal(text.toString(), expected);
    }),
  );
});
