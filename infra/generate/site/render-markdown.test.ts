import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMarkdown } from "./render-markdown.ts";

test("comments of a page, which say how it is tested, are not published", () => {
  const page = "# Do\n\n<!-- not run: it is yours -->\n\nA <!-- by hand: export PATH=$PWD/node_modules --> word.\n";
  const { html } = renderMarkdown(page, () => null);
  assert.match(html, /<p>A {2}word\.<\/p>/);
  assert.doesNotMatch(html, /<!--|node_modules/);
});
