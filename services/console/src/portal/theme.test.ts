import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, readableOn } from "./theme.ts";

test("an accent of any colour is readable on both surfaces, as text or as a button", () => {
  for (const accent of ["#ffffff", "#000000", "#ffff00", "#0b57d0", "#808080", "#ff0000", "#00ff00", "#eeeff2"]) {
    const light = readableOn(accent, "#eeeff2");
    const dark = readableOn(accent, "#26292f");
    for (const [one, other] of [
      [light, "#eeeff2"],
      [dark, "#26292f"],
      [light, "#ffffff"],
      [dark, "#131417"],
    ] as const)
      assert.ok(contrast(one, other) >= 4.5, `${accent}: ${one} on ${other} has ${contrast(one, other)}`);
  }
});

test("an accent that can be read stays as it is", () => {
  assert.equal(readableOn("#0b57d0", "#eeeff2"), "#0b57d0");
  assert.equal(Math.round(contrast("#000000", "#ffffff")), 21);
});
