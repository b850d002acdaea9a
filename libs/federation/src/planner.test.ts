import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { supergraphs } from "../test/supergraphs.ts";
import { TestSupergraph } from "../test/test-supergraph.ts";
import { PlannerThread, PlanRefused } from "./planning/planner.ts";
import { JsonText } from "./writing/answer.ts";

const { supergraphSdl } = new TestSupergraph(supergraphs.shop);
const isRefused = (code: PlanRefused["code"]) => (error: unknown) =>
  error instanceof PlanRefused && error.code === code;

/** Each level is requested from two subgraphs under many names. */
function hard(depth: number): string {
  if (depth === 0) return "{id handle}";
  const below = hard(depth - 1);
  return `{organization{id size} ${["a", "b", "c", "d"].map((name) => `${name}:friends(first:1)${below}`).join(" ")}}`;
}

test("a plan that takes too long is refused without blocking those behind it", async (t) => {
  const planner = new PlannerThread(supergraphSdl, 200);
  await planner.start();
  t.after(() => planner.close());
  const { plan, processorMs } = await planner.plan(`{me${hard(6)}}`);
  assert.ok(isRefused("LIMIT_COST")(plan));
  assert.equal(processorMs, 200, "it is charged for what it took");
  const behind = (await planner.plan("{me{id}}")).plan;
  assert.equal("kind" in behind && behind.node?.kind, "Fetch");
});

test("a plan tells the processor time that it took", async (t) => {
  const planner = new PlannerThread(supergraphSdl, 5_000);
  await planner.start();
  t.after(() => planner.close());
  const { processorMs } = await planner.plan(`{me${hard(2)}}`);
  assert.ok(processorMs > 0);
});

test("a closed planner refuses what it is asked", async () => {
  const planner = new PlannerThread(supergraphSdl, 5_000);
  await planner.start();
  const last = planner.plan("{users(limit:1){id}}");
  await planner.close();
  assert.ok(isRefused("UNAVAILABLE")((await last).plan));
  assert.ok(isRefused("UNAVAILABLE")((await planner.plan("{me{id}}")).plan));
});

test("a cut takes back exactly what came later, however much was joined before", () => {
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
