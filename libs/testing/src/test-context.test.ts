import assert from "node:assert/strict";
import { test } from "node:test";
import { defineProperties } from "@signalbox/config";
import { eventually } from "./eventually.ts";
import { testContext } from "./test-context.ts";

const common = { secrecy: "public", reload: "restart", effect: "Something." } as const;
const properties = defineProperties({
  "thing.limit": { ...common, type: "integer", default: 5 },
  "thing.names": { ...common, type: "list", default: [] },
});

test("overrides stand above the defaults of the properties", async () => {
  const context = testContext("images", properties, { "thing.names": ["a", "b"] });
  assert.equal(context.configuration.get("thing.limit"), 5);
  assert.deepEqual(context.configuration.get("thing.names"), ["a", "b"]);
  await context.close();
});

test("a wrong override fails as a wrong command line does", () => {
  assert.throws(() => testContext("images", properties, { "thing.limit": "many" }), /thing\.limit/);
});

test("closing ends the workers and closes in reverse", async () => {
  const context = testContext("images", properties);
  const order: string[] = [];
  context.runner.defer("first", () => order.push("first"));
  context.runner.defer("second", () => order.push("second"));
  context.runner.worker("loop", async (signal) => {
    order.push("worker");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    order.push("worker ended");
  });
  await eventually(() => order.includes("worker"));
  await context.close();
  assert.deepEqual(order, ["worker", "worker ended", "second", "first"]);
});

test("log lines are kept for the test instead of being printed", async () => {
  const context = testContext("images", properties);
  context.log.info({ image_id: "img_1" }, "An image came");
  assert.equal(context.logged[0]?.image_id, "img_1");
  await context.close();
});
