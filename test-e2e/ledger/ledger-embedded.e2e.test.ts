import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { describeBroken, runCourse } from "./course.ts";

test("embedded: ten rounds of writes under faults break no invariant", async (t) => {
  const seed = randomInt(1_000_000);
  t.diagnostic(`again: npm run ledger -- --mode embedded --short --rounds 10 --seed ${seed}`);
  const tell = (line: string) => t.diagnostic(line);
  const result = await runCourse({ mode: "embedded", rounds: 10, seed, short: true, tell });
  assert.equal(result.broken.length, 0, `seed ${seed}\n${describeBroken(result)}`);
});
