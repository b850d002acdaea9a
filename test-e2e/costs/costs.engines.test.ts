// Whole machine: what workers send while they are late would be counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureCosts } from "./measure-costs.ts";

test("no hot operation makes more round trips to PostgreSQL than it may, consumers and workers included", async () => {
  const costs = await measureCosts();
  const over = costs.filter(({ operation, roundTrips }) => roundTrips > operation.roundTripsMax);
  assert.deepEqual(
    over.map(({ operation, roundTrips, statements }) => [operation.name, roundTrips, statements]),
    [],
  );
});
