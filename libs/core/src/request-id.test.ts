import assert from "node:assert/strict";
import { test } from "node:test";
import { newRequestId, requestIdOf } from "./request-id.ts";
import { maskText } from "./secrets.ts";

test("a caller's short and plain request id is kept, and any other is replaced by one of our form", () => {
  for (const id of ["r-1", "req_0", "a:b~c+d/e=", "x".repeat(128)]) assert.equal(requestIdOf(id), id);
  const ours = /^req_[0-9a-f]{32}$/;
  for (const id of [undefined, "", "a b", "x".repeat(129), 'a"b', "ä", ["a", "b"]]) assert.match(requestIdOf(id), ours);
  assert.notEqual(newRequestId(), newRequestId());
  const id = newRequestId();
  assert.equal(maskText(id), id, "the log shows it");
});
