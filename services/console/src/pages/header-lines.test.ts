import assert from "node:assert/strict";
import { test } from "node:test";
import { headerLines, headersOfLines, traceUrl } from "./header-lines.ts";

test("headers are written or read one on each line, colons in their values included", () => {
  assert.equal(headerLines({ host: "a.example:80", via: ["1", "2"] }), "host: a.example:80\nvia: 1\nvia: 2");
  assert.deepEqual(headersOfLines("Host: a.example:80\r\n\n X-Id :7\n"), { host: "a.example:80", "x-id": "7" });
});

test("a line without a colon is refused with its number", () => {
  assert.throws(() => headersOfLines("a: 1\nPOST /hooks"), /^Error: Headers: line 2 has no colon/);
});

const template = "https://traces.example/{trace_id}/spans";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

test("a message links its trace if it has one that the deployment can show", () => {
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  assert.equal(traceUrl(template, headers), `https://traces.example/${traceId}/spans`);
  assert.equal(traceUrl(null, headers), null);
  for (const broken of [{}, { traceparent: "" }, { traceparent: `00-${traceId.slice(1)}"-x` }])
    assert.equal(traceUrl(template, broken as Record<string, string>), null);
});
