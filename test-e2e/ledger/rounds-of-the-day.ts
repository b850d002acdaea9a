import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { environment } from "@signalbox/config";
import { describeBroken, runCourse } from "./course.ts";
import type { Mode } from "./systems/ledger-system.ts";

const dayMs = 86_400_000;

/**
 * Plays rounds of the faults that `npm test` has time for. The seed is the day, so that a repetition of a failure plays
 * the same rounds; `TEST_LEDGER_SEED` sets another.
 */
export async function playRounds(t: TestContext, mode: Mode, rounds: number): Promise<void> {
  const seed = Number(environment().TEST_LEDGER_SEED ?? Math.floor(Date.now() / dayMs));
  const options = { mode, rounds, seed, short: true } as const;
  t.diagnostic(`npm run ledger -- --mode ${mode} --short --rounds ${rounds} --seed ${seed}`);
  const result = await runCourse({ ...options, print: (line) => t.diagnostic(line) });
  assert.equal(result.broken.length, 0, describeBroken(result));
  assert.equal(result.figures.length, rounds);
}
