import assert from "node:assert/strict";
import { test } from "node:test";
import { secretIn } from "./embedder.ts";

test("only a link with a secret is an answer of the page around", () => {
  assert.equal(
    secretIn({ type: "signalbox.link", url: "https://hooks.example/console/portal/#sbx_portal_1" }),
    "sbx_portal_1",
  );
  for (const other of [
    null,
    "signalbox.link",
    { type: "signalbox.link-wanted" },
    { type: "other", url: "https://hooks.example/#sbx_portal_1" },
    { type: "signalbox.link", url: "https://hooks.example/console/portal/" },
    { type: "signalbox.link", url: "https://hooks.example/console/portal/#" },
    { type: "signalbox.link", url: 1 },
  ])
    assert.equal(secretIn(other), null, JSON.stringify(other));
});
