import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createErrorResponses } from "@signalbox/runtime";
import { whileStarting } from "./while-starting.ts";

test("until everything runs, callers are told to come back, in the shape of every refusal", async () => {
  const front = whileStarting((_, response) => response.end("served"), createErrorResponses("/docs/errors"));
  const server = createServer(front.listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/images`;
  try {
    const early = await fetch(url, { headers: { "x-request-id": "caller-1" } });
    assert.equal(early.status, 503);
    assert.equal(early.headers.get("retry-after"), "1");
    assert.equal(early.headers.get("x-request-id"), "caller-1");
    assert.equal(early.headers.get("x-content-type-options"), "nosniff");
    const { error } = (await early.json()) as { error: Record<string, unknown> };
    assert.deepEqual(error, {
      code: "unavailable",
      message: "Signalbox is starting.",
      request_id: "caller-1",
      doc_url: "/docs/errors#unavailable",
    });
    front.open();
    assert.equal(await (await fetch(url)).text(), "served");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
