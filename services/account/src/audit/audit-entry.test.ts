import { test } from "node:test";
import { uuidv7 } from "@signalbox/core";
import { dayMs, startOfDay } from "@signalbox/storage";
import fc from "fast-check";
import { firstIdAt, timeOfId } from "./audit-entry.ts";

test("the ids of a day are those between its first id and the next day's", () => {
  const times = fc.integer({ min: 0, max: Date.parse("9999-12-31T00:00:00Z") });
  fc.assert(
    fc.property(times, (ms) => {
      const id = uuidv7(ms);
      const start = startOfDay(ms);
      return firstIdAt(start) < id && id < firstIdAt(start + dayMs) && timeOfId(id) === ms;
    }),
  );
});
