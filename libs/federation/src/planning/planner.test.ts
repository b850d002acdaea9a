import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphQLSchema } from "graphql";
import { supergraphs } from "../../test/supergraphs.ts";
import { TestSupergraph } from "../../test/test-supergraph.ts";
import { createPlanStore } from "./plan-store.ts";
import { openPlanner, PlanRefused } from "./planner.ts";

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
