import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAccessLine } from "./access-line.ts";

const message = (members: object) => `<190>Nov 26 18:00:00 edge: ${JSON.stringify(members)}`;

test("a line is counted under the published route of its path", () => {
  const line = message({ path: "/images/img_secret/content", status: "200", upstream_seconds: "0.120" });
  assert.deepEqual(parseAccessLine(line), {
    route: "/images",
    service: "images",
    status: "200",
    upstreamSeconds: 0.12,
  });
  const unknown = parseAccessLine(message({ path: "/wp-admin/setup.php", status: "404", upstream_seconds: "" }));
  assert.deepEqual(unknown, { route: "none", service: "none", status: "404", upstreamSeconds: null });
});

test("the attempts of a request are added; one without a connection took no time", () => {
  const secondsOf = (upstream_seconds: unknown) =>
    parseAccessLine(message({ path: "/", status: "502", upstream_seconds }))?.upstreamSeconds;
  assert.equal(secondsOf("0.500, 1.250 : 0.250"), 2);
  assert.equal(secondsOf("-, 0.250"), 0.25);
  assert.equal(secondsOf("-"), null);
});

test("what is no line of ours is not counted", () => {
  for (const text of ["", "<190>edge: ", "{", "null", "[]", message({}), message({ path: "/", status: "999" })])
    assert.equal(parseAccessLine(text), null, text);
  for (const status of ["20", "2000", "abc", 200]) assert.equal(parseAccessLine(message({ path: "/", status })), null);
});
