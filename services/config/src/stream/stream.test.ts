import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import { eventually, testPerson } from "@signalbox/testing";
import fc from "fast-check";
import { ConfigStream } from "./config-stream.ts";
import { type Known, SentRevisions } from "./sent-revisions.ts";
import { StreamClient } from "./stream-client.ts";

const known = (changes: Record<string, number>, flags: Record<string, number> = {}): Known => ({
  changes: Object.fromEntries(Object.entries(changes).map(([name, revision]) => [name, { revision }])),
  flags: Object.entries(flags).map(([key, revision]) => ({ key, revision })),
});

test("values known at the start are old; later changes are found once, by their revision", () => {
  const sent = new SentRevisions(known({ a: 3 }, { f: 2 }), 3);
  assert.deepEqual(sent.take(known({ a: 3 }, { f: 2 })), []);
  const found = sent.take(known({ a: 5, b: 5, c: 4 }, { f: 6 }));
  assert.deepEqual(found, [
    { revision: 4, names: ["c"], flags: [] },
    { revision: 5, names: ["a", "b"], flags: [] },
    { revision: 6, names: [], flags: ["f"] },
  ]);
  assert.deepEqual(sent.take(known({ a: 5, b: 5, c: 4 }, { f: 6 })), []);
});

test("an id never promises a revision that was not sent, in any order of arrival", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(Array.from({ length: 20 }, (_, index) => index + 1)), (order) => {
      const sent = new SentRevisions(known({}), 0);
      const seen = new Set<number>();
      for (const revision of order) {
        seen.add(revision);
        const id = sent.markSent(revision);
        for (let each = 1; each <= id; each++) assert.ok(seen.has(each), `${id} without ${each}`);
        if ([...seen].every((each) => each <= id)) assert.equal(id, Math.max(...seen));
      }
    }),
  );
});

test("a slow client loses its connection once 256 KiB wait for it, and never an event silently", async () => {
  const clients: StreamClient[] = [];
  const { principal, token: value } = testPerson();
  const follower = { principal, credential: { kind: "bearer", value } as const };
  const server = createServer((_request, response) => void clients.push(new StreamClient(follower, response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  request.on("error", () => {});
  request.on("response", (response) => response.on("error", () => {}).pause());
  const client = await eventually(() => clients[0] ?? null);
  client.goLive();
  const frame = Buffer.from(`event: config\ndata: ${"x".repeat(1_024 * 1_024)}\n\n`);
  await eventually(() => {
    client.send(frame);
    return !client.isOpen;
  });
  request.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A response that takes nothing, and remembers whether it was destroyed. */
class StalledResponse extends EventEmitter {
  destroyed = false;
  writableEnded = false;
  readonly writableLength = 0;
  readonly written: string[] = [];

  write(frame: Buffer): void {
    this.written.push(String(frame));
  }

  end(text: string): void {
    this.written.push(text);
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

const streamClient = (response: StalledResponse) => {
  const { principal, token: value } = testPerson();
  return new StreamClient({ principal, credential: { kind: "bearer", value } }, response as never);
};

test("a client loses its connection once 256 KiB wait behind its catch-up", () => {
  const response = new StalledResponse();
  const client = streamClient(response);
  for (let kib = 0; kib <= 256; kib++) client.send(Buffer.alloc(1_024));
  assert.ok(response.destroyed);
});

test("a client that does not take the end of its stream is disconnected", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const response = new StalledResponse();
  streamClient(response).end("draining");
  t.mock.timers.tick(10_000);
  assert.ok(response.destroyed);
});

test("a revision that cannot be sent ends the streams, whose clients resume before it", async () => {
  let change = () => {};
  const changes: Record<string, { revision: number }> = {};
  const logged: unknown[] = [];
  const stream = new ConfigStream({
    runner: { every() {}, onDrain() {} },
    clock: systemClock,
    log: { error: (fields: { error: unknown }) => logged.push(fields.error) },
    flags: {
      onChange: (listener: () => void) => (change = listener),
      current: () => ({ changes, flags: [], revision: 0 }),
    },
    accessStates: { onChange() {}, stateOf: () => undefined, isRevoked: () => false },
    values: { propertyOf: (name: string) => name, settled: () => Promise.reject(new Error("no reports")) },
    limits: { perCredential: 1, all: 1 },
  } as never);
  const response = new StalledResponse();
  const { principal, token: value } = testPerson();
  const follower = { principal, credential: { kind: "bearer", value } as const };
  await stream.open(follower, null, { method: "GET" } as never, response as never);
  changes.a = { revision: 1 };
  change();
  await eventually(() => response.writableEnded);
  assert.match(response.written.at(-1) ?? "", /"reason":"failed"/);
  assert.equal(logged.length, 1);
});

test("every stream is greeted within fifteen ticks, and other work gets its turn between a few", async () => {
  const ticks: (() => Promise<unknown>)[] = [];
  const runner = {
    every: (_name: string, _ms: number, tick: () => Promise<unknown>) => ticks.push(tick),
    onDrain() {},
  };
  const flags = { onChange() {}, current: () => ({ ...known({}), revision: 0 }) };
  const accessStates = { onChange() {}, stateOf: () => undefined, isRevoked: () => false };
  const parts = {
    runner,
    clock: systemClock,
    flags,
    accessStates,
    limits: { perCredential: 9_999, all: 9_999 },
  };
  const stream = new ConfigStream(parts as unknown as ConstructorParameters<typeof ConfigStream>[0]);
  let written = 0;
  for (let count = 0; count < 1_500; count++) {
    const { principal, token: value } = testPerson();
    const response = Object.assign(new EventEmitter(), { writableLength: 0, write: () => written++ });
    await stream.open({ principal, credential: { kind: "bearer", value } }, null, {} as never, response as never);
  }

  written = 0;
  let [before, most] = [0, 0];
  for (let at = 0; at < 15; at++) {
    let isOver = false;
    void ticks[0]?.().then(() => {
      isOver = true;
    });
    for (; !isOver || before !== written; before = written) {
      most = Math.max(most, written - before);
      await nextTurn();
    }
  }
  assert.equal(written, 1_500);
  assert.ok(most <= 40, `${most} in one turn of the loop`);
});
