import assert from "node:assert/strict";
import { test } from "node:test";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { machineFaults } from "./machine-faults.ts";

test("a fault of a machine names alerts that exist", () => {
  const names = alerts.map(({ name }) => name);
  for (const { name, users, alerts: own = [] } of machineFaults) {
    assert.ok(users && own.length > 0, name);
    assert.deepEqual(
      own.filter((alert) => !names.includes(alert)),
      [],
      name,
    );
  }
});
