import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MiB, systemClock } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { ada, authenticator, place, quiet, schemaOf, sdl, setUp, take } from "../../test/live-by-hand.ts";
import { LiveCaller } from "./live-caller.ts";

test("after a reload a valid subscription continues; an invalid one ends with its cursor", async () => {
  const { live, state, subscribe, publish } = setUp();
  const kept = await subscribe("subscription { imageChanged { changed } }");
  const lost = await subscribe("subscription { imageChanged { changed imageId } }");
  await publish(0n);
  assert.deepEqual([await take(kept, 1), await take(lost, 1)], [["0"], ["0"]]);
  state.reloads++;
  state.schema = schemaOf(sdl.replace("  imageId: ID!\n", ""));
  live.followSchema();
  await assert.rejects(lost.next(), ({ extensions }: { extensions: Record<string, unknown> }) => {
    assert.equal(extensions.code, "SCHEMA_CHANGED");
    return typeof extensions.cursor === "string";
  });
  await publish(1n);
  assert.deepEqual(await take(kept, 1), ["1"]);
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

test("a stream always has a cursor: it moves on with events of others, and not past a message that waits", async () => {
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
    { credential: null, principal },
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
    { credential: { kind: "bearer", value: "x" } as never, principal: ada.principal },
    quiet,
  );
  caller.recheck();
  caller.recheck();
  const [first, second] = asked;
  second?.({ ...ada.principal, state: "suspended" });
  first?.(ada.principal);
  const images = { access: { scope: "images:read", access: "subscribe" } } as const;
  await assert.rejects(caller.admit(images), ({ code }: { code: string }) => code === "forbidden");
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
