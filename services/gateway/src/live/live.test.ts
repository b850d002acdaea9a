import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { subscriptions } from "@signalbox/contracts";
import { AppError, MiB, minutes, systemClock } from "@signalbox/core";
import { eventually, testPerson } from "@signalbox/testing";
import {
  ada,
  authenticator,
  callerOf,
  place,
  quiet,
  schemaOf,
  sdl,
  setUp,
  take,
  withoutImageId,
} from "../../test/live-by-hand.ts";
import { LiveCaller } from "./live-caller.ts";
import { replayFromLog } from "./live-feed.ts";

test("after a reload a valid subscription continues; an invalid one ends with its cursor", async () => {
  const { live, state, subscribe, publish } = setUp();
  const kept = await subscribe("subscription { imageChanged { changed } }");
  const lost = await subscribe("subscription { imageChanged { changed imageId } }");
  await publish(0n);
  assert.deepEqual([await take(kept, 1), await take(lost, 1)], [["0"], ["0"]]);
  state.reloads++;
  state.schema = schemaOf(withoutImageId(sdl));
  live.followSchema();
  await assert.rejects(lost.next(), ({ extensions }: { extensions: Record<string, unknown> }) => {
    assert.equal(extensions.code, "SCHEMA_CHANGED");
    return typeof extensions.cursor === "string";
  });
  await publish(1n);
  assert.deepEqual(await take(kept, 1), ["1"]);
});

test("the cursor of a subscription that a reload ends is before the event that comes with it", async () => {
  const { cursors, state, subscribe, publish } = setUp();
  const stream = await subscribe("subscription { imageChanged { changed imageId } }");
  state.reloads++;
  state.schema = schemaOf(withoutImageId(sdl));
  await publish(0n);
  await assert.rejects(stream.next(), ({ extensions }: { extensions: { cursor: string } }) => {
    assert.equal(cursors.open("imageChanged", extensions.cursor)?.get(place), 0n);
    return true;
  });
});

test("a cursor of an instance that was ahead repeats nothing", async () => {
  const { state, cursors, subscribe, publish } = setUp();
  state.at = 1n;
  const stream = await subscribe(
    "subscription { imageChanged { changed } }",
    cursors.seal("imageChanged", new Map([[place, 3n]])),
  );
  for (const offset of [1n, 2n, 3n, 4n]) await publish(offset);
  assert.deepEqual(await take(stream, 2), ["3", "4"]);
});

test("events that arrive during a replay follow it, each once", async () => {
  const { cursors, subscribe, publish } = setUp();
  for (const offset of [0n, 1n, 2n]) await publish(offset);
  const stream = await subscribe(
    "subscription { imageChanged { changed } }",
    cursors.seal("imageChanged", new Map([[place, 1n]])),
  );
  await publish(3n);
  assert.deepEqual(await take(stream, 3), ["1", "2", "3"]);
});

/** Subscribes after 40 missed events and reads none of them, so that the replay waits for room. */
async function stalledReplay(setup: ReturnType<typeof setUp>, caller: LiveCaller) {
  const { cursors, state, publish, subscribeAs } = setup;
  for (let offset = state.at; offset < 40n; offset++) await publish(offset);
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  const stream = await subscribeAs(caller, "subscription { imageChanged { changed image { id } } }", after);
  await eventually(() => state.fetches === 17);
  return stream;
}

test("a replay stops with its stream, though it waits for room", async () => {
  const setup = setUp();
  const caller = callerOf(ada.principal);
  const stream = await stalledReplay(setup, caller);
  // Nothing more is resolved for it, and a check of an access that is over would reject unheard.
  caller.close();
  await stream.return();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.equal(setup.state.fetches, 17);
});

test("an invalid credential ends a replay that waits for room", async () => {
  const setup = setUp();
  const caller = callerOf(ada.principal);
  const stream = await stalledReplay(setup, caller);
  setup.live.end(caller, new AppError("unauthorized", "The credential is not valid."));
  await stream.over;
  await assert.rejects(stream.next(), ({ extensions }: { extensions: object }) => {
    assert.deepEqual(extensions, { code: "UNAUTHENTICATED" });
    return true;
  });
});

test("an access that ends while a subscription begins ends that subscription", async () => {
  const { live, subscribeAs } = setUp();
  // At each step between the judgement of the access and the opening.
  for (let steps = 0; steps < 8; steps++) {
    const caller = callerOf(ada.principal);
    const subscribing = subscribeAs(caller, images).catch(() => null);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    caller.close();
    live.end(caller, new AppError("unauthorized", "The credential is not valid."));
    const stream = await subscribing;
    await eventually(() => stream?.isClosed ?? true);
  }
});

test("a schema that changes while a subscription begins is the one that it follows", async () => {
  const { state, subscribeAs } = setUp();
  const subscribing = subscribeAs(callerOf(ada.principal), "subscription { imageChanged { changed imageId } }");
  state.reloads++;
  state.schema = schemaOf(withoutImageId(sdl));
  await assert.rejects((await subscribing).next(), ({ extensions }: { extensions: { code: string } }) => {
    assert.equal(extensions.code, "SCHEMA_CHANGED");
    return true;
  });
});

test("a stream's cursor moves on with events of others, but not past a message that waits", async () => {
  const { state, cursors, subscribe, publish } = setUp();
  const stream = await subscribe("subscription { imageChanged { changed } }");
  const offset = () => cursors.open("imageChanged", stream.cursor())?.get(place);
  assert.equal(offset(), 0n);
  state.at = 4n;
  assert.equal(offset(), 4n, "events of others");
  await publish(4n);
  assert.equal(offset(), 4n, "a message waits");
  assert.deepEqual(await take(stream, 1), ["4"]);
  assert.equal(offset(), 5n);
});

test("a credential that expires while it is accepted is reported after the caller exists", async () => {
  const reasons: string[] = [];
  const principal = { ...ada.principal, expiresAt: new Date(0) };
  const caller = new LiveCaller(
    { authenticator: authenticator(), clock: systemClock },
    { credential: null, principal, requestId: "r-1", clientAddress: "192.0.2.1" },
    { ...quiet, end: ({ code }) => reasons.push(code) },
  );
  assert.deepEqual(reasons, []);
  await eventually(() => reasons.length > 0);
  assert.deepEqual(reasons, ["unauthorized"]);
  caller.close();
});

test("a late answer about access does not undo a newer one", async () => {
  const asked: ((principal: unknown) => void)[] = [];
  const caller = new LiveCaller(
    { authenticator: authenticator(() => new Promise((resolve) => asked.push(resolve))), clock: systemClock },
    {
      credential: { kind: "bearer", value: "x" } as never,
      principal: ada.principal,
      requestId: "r-1",
      clientAddress: "192.0.2.1",
    },
    quiet,
  );
  caller.recheck();
  caller.recheck();
  const [first, second] = asked;
  second?.({ ...ada.principal, state: "suspended" });
  first?.(ada.principal);
  await assert.rejects(caller.admit(subscriptions.imageChanged), ({ code }: { code: string }) => code === "forbidden");
  caller.close();
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test("10,000 short subscriptions leave the heap within a tenth of its size", async () => {
  const { live, cursors, subscribe, publish } = setUp();
  await publish(0n);
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  let before = 0;
  for (let n = 0; n < 11_000; n++) {
    // The first ones leave compiled code behind.
    if (n === 1_000) before = heapBytes();
    const stream = await subscribe("subscription { imageChanged { changed } }", n % 10 === 0 ? after : null);
    await stream.return();
  }
  const now = heapBytes();
  assert.ok(live, "it is in use while the heap is looked at");
  assert.ok(now < 1.1 * before, `the heap grew from ${Math.round(before / MiB)} to ${Math.round(now / MiB)} MiB`);
});

const images = "subscription { imageChanged { changed } }";

test("beyond 5,000 subscriptions an instance asks for a retry until a place is free", async () => {
  const { live, subscribe } = setUp();
  const [first] = await Promise.all(Array.from({ length: 5_000 }, () => subscribe(images)));
  await assert.rejects(subscribe(images), { code: "unavailable", retryAfterSeconds: 2 });
  await first?.return();
  await subscribe(images);
  await assert.rejects(subscribe(images), { code: "unavailable" });
  live.drain();
});

test("two replays of a caller run at the same time", async () => {
  const { cursors, replays, subscribe, publish } = setUp();
  await publish(0n);
  replays.wait = true;
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  const streams = await Promise.all(Array.from({ length: 20 }, () => subscribe(images, after)));
  const received = Promise.all(streams.map((stream) => take(stream, 1)));
  for (let ended = 0; ended < 20; ended++) {
    const running = Math.min(2, 20 - ended);
    await eventually(() => replays.waiting.length === running);
    replays.waiting.shift()?.();
  }
  assert.deepEqual(await received, Array(20).fill(["0"]));
});

test("a replay that ends before its turn leaves the line", async () => {
  const { cursors, replays, subscribe, publish } = setUp();
  await publish(0n);
  replays.wait = true;
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  const streams = await Promise.all(Array.from({ length: 12 }, () => subscribe(images, after)));
  await eventually(() => replays.waiting.length === 2);
  for (const gone of streams.slice(8, 11)) await gone.return();
  replays.wait = false;
  for (const wake of replays.waiting.splice(0)) wake();
  const left = [...streams.slice(0, 8), ...streams.slice(11)];
  assert.deepEqual(await Promise.all(left.map((stream) => take(stream, 1))), Array(9).fill(["0"]));
});

test("a message of a stream that is over is not resolved", async () => {
  const { state, subscribe, publish } = setUp();
  const stream = await subscribe("subscription { imageChanged { changed image { id } } }");
  stream.fail("DRAINING", "It is over.");
  await publish(0n);
  assert.equal(state.fetches, 0);
});

test("an event is resolved once for equal subscriptions of each credential", async () => {
  const { state, subscribe, publish } = setUp();
  const withImage = "subscription { imageChanged { changed image { id } } }";
  const { principal: other } = testPerson({ accountId: ada.accountId });
  const narrow = { ...ada.principal, scopes: new Set(["images:read"] as const) };
  const streams = await Promise.all([
    ...Array.from({ length: 5 }, () => subscribe(withImage)),
    ...[other, narrow].map((who) => subscribe(withImage, null, who)),
    subscribe("subscription { imageChanged { changed image { again: id } } }"),
  ]);
  await publish(0n);
  assert.deepEqual(await Promise.all(streams.map((stream) => take(stream, 1))), Array(8).fill(["0"]));
  assert.equal(state.fetches, 4);
});

test("no events are read beyond 128 unresolved messages, yet none is lost", async () => {
  const { state, subgraph, subscribe, publish } = setUp({ deadlineMs: minutes(1) });
  const stream = await subscribe("subscription { imageChanged { changed image { id } } }");
  const { promise, resolve } = Promise.withResolvers<void>();
  subgraph.isBack = promise;
  let taken = 0;
  const feed = (async () => {
    for (let offset = 0n; offset < 300n; offset++) {
      await publish(offset);
      await nextTurn();
      taken++;
    }
  })();
  await eventually(() => state.fetches >= 128);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.ok(taken < 132, `${taken} events were read`);
  resolve();
  const received = await take(stream, 300);
  await feed;
  assert.deepEqual(
    received,
    Array.from({ length: 300 }, (_, offset) => String(offset)),
  );
});

type Broadcast = Parameters<typeof replayFromLog>[0]["eventLog"]["broadcast"];

const replay = (broadcast: Broadcast) =>
  replayFromLog({
    eventLog: { broadcast },
    service: "gateway",
    instance: "test",
    topics: ["signalbox.image.v1"],
    after: new Map(),
    until: new Map(),
    over: new Promise(() => {}),
    read: () => null,
  })[Symbol.asyncIterator]();

test("a replay with an unreadable log, from the start or later, may be retried", async () => {
  const away = new Error("Connection terminated due to connection timeout");
  const refusal = { code: "unavailable", cause: away };
  await assert.rejects(replay(() => Promise.reject(away)).next(), refusal);
  let closed = 0;
  const reader = { caughtUp: Promise.reject(away), close: async () => void closed++ };
  const breaks = (async () => reader) as unknown as Broadcast;
  await assert.rejects(replay(breaks).next(), refusal);
  assert.equal(closed, 1);
});
