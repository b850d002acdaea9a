import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { minutes } from "@signalbox/core";
import { eventually, testPerson } from "@signalbox/testing";
import { ada, place, setUp, take } from "../../test/live-by-hand.ts";

const images = "subscription { imageChanged { changed } }";

test("an instance accepts 5,000 subscriptions; later ones may retry, and get a place that has become free", async () => {
  const { live, subscribe } = setUp();
  const [first] = await Promise.all(Array.from({ length: 5_000 }, () => subscribe(images)));
  await assert.rejects(subscribe(images), { code: "unavailable", retryAfterSeconds: 2 });
  await first?.return();
  await subscribe(images);
  await assert.rejects(subscribe(images), { code: "unavailable" });
  live.drain();
});

test("eight replays run at the same time, and the others wait for their turn", async () => {
  const { cursors, replays, subscribe, publish } = setUp();
  await publish(0n);
  replays.wait = true;
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  const streams = await Promise.all(Array.from({ length: 20 }, () => subscribe(images, after)));
  const received = Promise.all(streams.map((stream) => take(stream, 1)));
  for (let ended = 0; ended < 20; ended++) {
    const running = Math.min(8, 20 - ended);
    await eventually(() => replays.waiting.length === running);
    replays.waiting.shift()?.();
  }
  assert.deepEqual(await received, Array(20).fill(["0"]));
});

test("an event is resolved once for equal subscriptions of one credential, and again for each other credential", async () => {
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

test("with 128 unresolved messages no more events are read, and all are sent once they are resolved", async () => {
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
