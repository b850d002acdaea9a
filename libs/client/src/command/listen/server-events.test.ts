import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readEvents, type ServerEvent } from "./server-events.ts";

async function all(network: AsyncIterable<Uint8Array>): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(network)) events.push(event);
  return events;
}

test("events are the same, wherever the network cuts the stream", async () => {
  const text =
    ': connected\n\nevent: message\nid: 1\ndata: {"a":"ü:\\n"}\n\n:\n\nevent: end\ndata: {"reason":"draining"}\n\n';
  const bytes = Buffer.from(text);
  const expected = [
    { event: "message", data: "" },
    { event: "message", data: '{"a":"ü:\\n"}' },
    { event: "message", data: "" },
    { event: "end", data: '{"reason":"draining"}' },
  ];
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length)), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      async function* network() {
        yield* chunks;
      }
      assert.deepEqual(await all(network()), expected);
    }),
  );
});

test("a stream without an end of a message is given up instead of kept in memory", async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(1024 * 1024, "x");
  }
  await assert.rejects(all(endless()), /without an end/);
});
