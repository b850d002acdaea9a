import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@signalbox/testing";
import { openTestClient } from "../test/test-server.ts";
import { abortable } from "./deadline.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options: { readonly execution: "async" }) => Promise<void>;

/** Collects what nothing holds, also what a finalizer lets go of. */
async function collect(): Promise<void> {
  for (let round = 0; round < 3; round++) await collectGarbage({ execution: "async" });
}

const silent = () => undefined;
const halfABody = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write('{"items":[');
};

for (const [kind, answer] of Object.entries({ "the headers are": silent, "the rest of the body is": halfABody })) {
  for (const triesMax of [1, 3]) {
    test(`an abort arrives after a collection while ${kind} awaited, of ${triesMax} tries`, async (t) => {
      const retry = { triesMax };
      const { client, received } = await openTestClient(t, () => answer, { retry, timeoutMs: 20_000 });
      const stop = new AbortController();
      const reading = client.images.get("img_1", { signal: stop.signal }).then(
        () => "read",
        (error: Error) => error.message,
      );
      await eventually(() => received.length === 1);
      await collect();
      stop.abort(new Error("stopped"));
      assert.equal(await Promise.race([reading, overdue(20_000)]), "stopped");
    });
  }

  test(`a time limit holds after a collection while ${kind} awaited`, async (t) => {
    const { client, received } = await openTestClient(t, () => answer, { retry: { triesMax: 1 }, timeoutMs: 1_000 });
    const reading = client.images.get("img_1").catch((error: Error) => error.name);
    await eventually(() => received.length === 1);
    await collect();
    assert.equal(await Promise.race([reading, overdue(20_000)]), "TimeoutError");
  });
}

test("an abort ends a stream whose reader waits, after a collection", async (t) => {
  const { client, received } = await openTestClient(t, () => halfABody);
  const stop = new AbortController();
  const body = await bodyOf(client, stop.signal);
  const reading = body.getReader();
  await reading.read();
  const rest = reading.read().then(
    () => "read",
    (error: Error) => error.message,
  );
  assert.equal(received.length, 1);
  await collect();
  stop.abort(new Error("stopped"));
  assert.equal(await Promise.race([rest, overdue(20_000)]), "stopped");
});

async function bodyOf(client: Awaited<ReturnType<typeof openTestClient>>["client"], signal: AbortSignal) {
  const { response } = await client.GET("/images", { signal, parseAs: "stream" });
  assert.ok(response.body);
  return response.body;
}

/** Ends a race that a lost abort would leave open. */
const overdue = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(resolve, ms, "overdue").unref());

for (const status of [204, 205, 304]) {
  test(`a response ${status} passes, although Chromium gives it an empty body`, () => {
    const response = Object.defineProperty(new Response(null, { status }), "body", { value: new ReadableStream() });
    assert.equal(abortable(response, new Request("http://127.0.0.1/")), response);
  });
}
