import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyTurns } from "./body-work.ts";

test("each turn of the event loop has one slice, taken by the callers in turn", async () => {
  const asked: (() => void)[] = [];
  const turns = new BodyTurns((next) => void asked.push(next));
  const begun: string[] = [];
  for (const name of ["a1", "a2", "a3", "b1"])
    void turns.turn(name.charAt(0)).then(() => {
      begun.push(name);
    });
  const seen: string[][] = [];
  for (let loop = 0; loop < 4; loop++) {
    for (const next of asked.splice(0)) next();
    await new Promise(setImmediate);
    seen.push([...begun]);
  }
  assert.deepEqual(seen, [["a1"], ["a1", "b1"], ["a1", "b1", "a2"], ["a1", "b1", "a2", "a3"]]);
});
