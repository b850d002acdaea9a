import assert from "node:assert/strict";
import { test } from "node:test";
import { headerLines, headersOfLines } from "./header-lines.ts";

test("headers are written and read one on each line, with colons in their values", () => {
  assert.equal(headerLines({ host: "a.example:80", via: ["1", "2"] }), "host: a.example:80\nvia: 1\nvia: 2");
  assert.deepEqual(headersOfLines("Host: a.example:80\r\n\n X-Id :7\n"), { host: "a.example:80", "x-id": "7" });
});

test("a line without a colon is refused with its number", () => {
  assert.throws(() => headersOfLines("a: 1\nPOST /hooks"), /^Error: Headers: line 2 has no colon/);
});
