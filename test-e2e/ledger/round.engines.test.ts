// Whole machine: writers, kills and a system of fourteen processes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { environment } from "@signalbox/runtime";
import { describeBroken, runCourse } from "./course.ts";

const dayMs = 86_400_000;

/** The seed is the day, so that a failure is played again when the test is run again; `TEST_LEDGER_SEED` sets another. */
test("a round of the day on two instances of each service and three brokers breaks no promise", async (t) => {
  const seed = Number(environment().TEST_LEDGER_SEED ?? Math.floor(Date.now() / dayMs));
  t.diagnostic(`npm run ledger -- --mode engines --short --rounds 1 --seed ${seed}`);
  const print = (line: string) => t.diagnostic(line);
  const result = await runCourse({ mode: "engines", rounds: 1, seed, short: true, print });
  assert.equal(result.broken.length, 0, describeBroken(result));
  assert.equal(result.figures.length, 1);
});
