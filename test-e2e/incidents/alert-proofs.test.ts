import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { provedByBreak, provedByPromtool } from "./alert-proofs.ts";

test("every alert is listed once, with the test or drill that breaks the thing or the reason why none does", () => {
  const names = new Set(alerts.map(({ name }) => name));
  const listed = [...Object.keys(provedByBreak), ...Object.keys(provedByPromtool)];
  assert.deepEqual(listed.toSorted(), [...names].toSorted());
});

test("each named file has a break for its alert", async () => {
  for (const [alert, file] of Object.entries(provedByBreak))
    assert.ok((await readFile(join(repositoryFolder, file), "utf8")).includes(`"${alert}"`), `${file} has ${alert}`);
});
