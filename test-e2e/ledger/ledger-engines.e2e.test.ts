import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { describeBroken, runCourse } from "./course.ts";

test("engines: eight rounds of writes under faults, two instances of each service, break no invariant", async (t) => {
  const seed = randomInt(1_000_000);
  t.diagnostic(`again: npm run ledger -- --mode engines --short --rounds 8 --seed ${seed}`);
  const tell = (line: string) => t.diagnostic(line);
  const result = await runCourse({ mode: "engines", rounds: 8, seed, short: true, tell });
  assert.equal(result.broken.length, 0, `seed ${seed}\n${describeBroken(result)}`);
});
