import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { RenderBudget } from "./render-budget.ts";

test("each account has its own budget; a spent one is refused with the time to return and fills again", () => {
  const clock = createManualClock();
  const budget = new RenderBudget({ clock, budgetMs: () => 6_000 });
  budget.spend("acc_1", 5_999);
  budget.requireLeft("acc_1");
  budget.spend("acc_1", 1_001);
  assert.throws(() => budget.requireLeft("acc_1"), { code: "rate_limited", retryAfterSeconds: 11 });
  assert.deepEqual([budget.isLeft("acc_1"), budget.isLeft("acc_2")], [false, true]);
  clock.advance(seconds(10));
  assert.equal(budget.isLeft("acc_1"), false);
  clock.advance(seconds(1));
  budget.requireLeft("acc_1");
  clock.advance(seconds(3600));
  budget.spend("acc_1", 6_000);
  assert.equal(budget.isLeft("acc_1"), false, "no more than one minute's budget is saved up");
});
