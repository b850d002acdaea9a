import assert from "node:assert/strict";
import { test } from "node:test";
import { traceUrl } from "./trace-url.ts";

const template = "https://traces.example/{trace_id}/spans";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

test("a message links its trace where the deployment says how, and has one", () => {
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  assert.equal(traceUrl(template, headers), `https://traces.example/${traceId}/spans`);
  assert.equal(traceUrl(null, headers), null);
  for (const broken of [{}, { traceparent: "" }, { traceparent: `00-${traceId.slice(1)}"-x` }])
    assert.equal(traceUrl(template, broken as Record<string, string>), null);
});
