import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { provedByBreak, provedByPromtool } from "./alert-proofs.ts";

test("every alert is listed once, with the test or drill that breaks the thing or the reason why none does", () => {
  const names = new Set(alerts.map(({ name }) => name));
  const listed = [...Object.values(provedByBreak).flat(), ...Object.keys(provedByPromtool)];
  assert.deepEqual(listed.toSorted(), [...names].toSorted());
});

test("each named file has a break for its alerts", async () => {
  for (const [file, names] of Object.entries(provedByBreak)) {
    const text = await readFile(join(import.meta.dirname, "..", file), "utf8");
    for (const alert of names) assert.ok(text.includes(`"${alert}"`), `${file} has ${alert}`);
  }
});
