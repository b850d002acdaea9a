import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createManualClock } from "@signalbox/core";
import { testContext } from "@signalbox/testing";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { responseBytesMax, responseText } from "./attempt-exchange.ts";
import { type Attempt, AttemptLoop } from "./attempt-loop.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { DeliveryStep } from "./delivery-states.ts";
import { Lanes } from "./lanes.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { Shares } from "./shares.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

const endpointAt = (id: string, url: string) =>
  ({ id, url, accountId: `acc_${id}`, status: "enabled", settings: { max_in_flight: null } }) as SigningEndpoint;
const deliveriesOf = ({ id: endpointId }: SigningEndpoint, count: number) =>
  Array.from(
    { length: count },
    (_, at) => ({ id: `${endpointId}-${at}`, endpointId, body: Buffer.from("{}") }) as LeasedDelivery,
  );

/** A loop whose attempts end on the test's command, with the given result. */
function loopUnderTest(bounds: { readonly inFlightMax: number; readonly inFlightMaxPerHost: number }) {
  const clock = createManualClock(new Date("2026-01-02T03:04:05Z"));
  const underWay: {
    readonly endpointId: string;
    readonly end: (status: number | null, error?: string, phase?: string) => void;
  }[] = [];
  const loop = new AttemptLoop({
    lanes: new Lanes({ ...bounds, inFlightMaxPerEndpoint: 64 }),
    leases: { leaseMs: 90_000, handBack: async () => {} },
    clock,
    log: testContext("webhook-delivery", {}).log,
    attempt: ({ endpointId }) =>
      new Promise((resolve) => {
        const end = (status: number | null, error: string | null = null, phase: string | null = null) =>
          resolve({ result: { status, error }, attempt: { phase } } as Awaited<ReturnType<Attempt>>);
        underWay.push({ endpointId, end });
      }),
    results: { add: async () => {} },
    attemptMsMax: () => 30_000,
    wake: () => {},
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, loop, underWay, settled };
}

test("concurrent attempts at one host are limited over all accounts, and other hosts do not wait", async () => {
  const { loop, underWay, settled } = loopUnderTest({ inFlightMax: 100, inFlightMaxPerHost: 3 });
  const [ada, bob] = [endpointAt("ada", "https://shared.example/a"), endpointAt("bob", "https://shared.example/b")];
  const eve = endpointAt("eve", "https://other.example/");
  for (const endpoint of [ada, bob, eve]) loop.add(endpoint, deliveriesOf(endpoint, 3));
  const atShared = () => underWay.filter(({ endpointId }) => endpointId !== "eve").length;
  assert.deepEqual([atShared(), underWay.length], [3, 6]);
  underWay[0]?.end(200);
  await settled();
  assert.equal(atShared(), 4);
});

test("endpoints that are slow share a quarter of the places", async () => {
  const { clock, loop, underWay, settled } = loopUnderTest({ inFlightMax: 8, inFlightMaxPerHost: 100 });
  const slow = ["ada", "bob", "eve"].map((name) => endpointAt(name, `https://${name}.example/`));
  for (const endpoint of slow) loop.add(endpoint, deliveriesOf(endpoint, 1));
  clock.advance(15_000);
  for (const { end } of underWay.splice(0)) end(null, "deadline");
  await settled();
  for (const endpoint of slow) loop.add(endpoint, deliveriesOf(endpoint, 4));
  assert.equal(underWay.length, 2);
  const quick = endpointAt("joe", "https://joe.example/");
  loop.add(quick, deliveriesOf(quick, 8));
  assert.equal(underWay.length, 8);
});

test("an endpoint that refuses connections rests, and its deliveries go out after that", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { clock, loop, underWay, settled } = loopUnderTest({ inFlightMax: 100, inFlightMaxPerHost: 100 });
  const endpoint = endpointAt("ada", "https://ada.example/");
  loop.add(endpoint, deliveriesOf(endpoint, 60));
  for (const { end } of underWay.splice(0, 9)) {
    end(null, "connection_refused", "connect");
    await settled();
  }
  const startedBefore = underWay.length;
  for (const { end } of underWay.splice(0)) end(null, "connection_refused", "connect");
  await settled();
  assert.equal(underWay.length, 0, "nothing starts while it rests");
  clock.advance(100);
  t.mock.timers.tick(100);
  await settled();
  assert.equal(underWay.length, 1, "then one attempt is made");
  underWay.splice(0)[0]?.end(200);
  await settled();
  assert.ok(startedBefore < 16 && underWay.length > 0, "an answer lets the others go out");
});

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

for (const [name, encode] of Object.entries(encoders)) {
  test(`an answer in ${name} is shown as it was written, up to the bound`, async () => {
    assert.equal(await responseText(encode(Buffer.from("down for maintenance")), name), "down for maintenance");
    const bomb = await responseText(encode(Buffer.alloc(50_000_000, "x")), name.toUpperCase());
    assert.equal(bomb, "x".repeat(responseBytesMax));
  });
}

test("a truncated answer, or one that is not encoded after all, is shown as far as it can be decoded", async () => {
  const whole = gzipSync(Buffer.from("a".repeat(100_000)));
  assert.equal(await responseText(Buffer.from("plain"), "gzip"), null);
  assert.equal(await responseText(Buffer.from("plain"), undefined), "plain");
  assert.equal(await responseText(Buffer.from("plain"), "exi"), "plain");
  assert.match((await responseText(whole.subarray(0, whole.length - 20), "gzip")) ?? "", /^a+$/);
  assert.equal(await responseText(Buffer.alloc(0), "gzip"), null);
  assert.equal(await responseText(Buffer.from("\0x"), undefined), "�x");
});

const success = { refused: false, overloaded: false, succeeded: true, durationMs: 20, startedMs: 0, endedMs: 20 };
const timeout = (startedMs: number) => ({
  refused: false,
  overloaded: true,
  succeeded: false,
  durationMs: 15_000,
  startedMs,
  endedMs: startedMs + 15_000,
});

test("the limit of an endpoint that keeps up grows to its bound", () => {
  const limit = new ConcurrencyLimit(18);
  assert.equal(limit.value, 16);
  for (let count = 0; count < 5; count++) limit.observe(success, true);
  assert.equal(limit.value, 18);
  limit.max = 2;
  assert.equal(limit.value, 2);
});

test("a limit that is not reached does not grow", () => {
  const limit = new ConcurrencyLimit(64);
  for (let count = 0; count < 100; count++) limit.observe(success, false);
  assert.equal(limit.value, 16);
});

test("concurrent timeouts halve the limit once, down to one, and a success ends the slow state", () => {
  const limit = new ConcurrencyLimit(64);
  for (let count = 0; count < 16; count++) limit.observe(timeout(0), true);
  assert.equal(limit.value, 8);
  assert.equal(limit.isSlow, true);
  for (let turn = 1; turn < 6; turn++) limit.observe(timeout(turn * 15_000), true);
  assert.equal(limit.value, 1);
  for (let count = 0; count < 32; count++) limit.observe(success, true);
  assert.equal(limit.isSlow, false);
  assert.equal(limit.value, 33);
});

test("an endpoint that refuses connections is tried ever less often, and one answer ends that", () => {
  const limit = new ConcurrencyLimit(64);
  const refused = (atMs: number) =>
    limit.observe(
      { refused: true, overloaded: false, succeeded: false, durationMs: 1, startedMs: atMs, endedMs: atMs },
      true,
    );
  for (let count = 0; count < 8; count++) refused(0);
  assert.deepEqual([limit.restMs(0), limit.value], [0, 16]);
  refused(0);
  assert.deepEqual([limit.restMs(0), limit.value], [100, 1]);
  refused(50);
  assert.equal(limit.restMs(50), 50, "an attempt that was under way does not prolong the rest");
  const rests = Array.from({ length: 7 }, (_, turn) => {
    refused(turn * 10_000 + 100);
    return limit.restMs(turn * 10_000 + 100);
  });
  assert.deepEqual(rests, [200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  limit.observe(success, true);
  refused(100_000);
  assert.deepEqual([limit.restMs(100_000), limit.value], [0, 17]);
});

test("a 429 halves the limit without making the endpoint slow", () => {
  const limit = new ConcurrencyLimit(64);
  limit.observe({ ...success, overloaded: true, succeeded: false }, true);
  assert.deepEqual([limit.value, limit.isSlow], [8, false]);
});

/** Holds as many deliveries as the account may have at the host. */
function fill(room: MemoryBudget, accountId: string, host: string, body = Buffer.alloc(2)): number {
  let count = 0;
  while (room.of({ accountId, host }) > 0) {
    room.move({ id: `${accountId} ${host} ${count++}`, accountId, body } as LeasedDelivery, "lease", host);
  }
  return count;
}

const hosts = (count: number) => Array.from({ length: count }, (_, at) => `host-${at}.example`);

test("an account that fills its share, at one host or at many, leaves room for others", () => {
  const room = new MemoryBudget();
  assert.equal(fill(room, "ada", "hanging.example"), 512);
  for (const host of hosts(100)) fill(room, "ada", host);
  assert.equal(room.of({ accountId: "ada", host: "another.example" }), 0);
  assert.equal(room.of({ accountId: "bob", host: "quick.example" }), 512);
});

test("large bodies of one account leave room for others", () => {
  const room = new MemoryBudget();
  for (const host of hosts(100)) fill(room, "ada", host, Buffer.alloc(262_144));
  assert.ok(room.of({ accountId: "bob", host: "quick.example" }) > 16);
});

test("accounts with nothing in memory find room after many have filled their shares", () => {
  const room = new MemoryBudget();
  for (let account = 0; account < 40; account++) for (const host of hosts(10)) fill(room, `acc_${account}`, host);
  assert.equal(room.of({ accountId: "bob", host: "quick.example" }), 16);
});

test("a plan sees what it has taken itself, and leaves nothing behind", () => {
  const room = new MemoryBudget();
  const load = { accountId: "ada", host: "one.example" };
  assert.equal(
    room.plan((take) => {
      take(load, 500, 1_000);
      return room.of(load);
    }),
    12,
  );
  assert.equal(room.of(load), 512);
});

test("a delivery counts from its lease until it is away, and takes no step out of turn", () => {
  const room = new MemoryBudget();
  const load = { accountId: "ada", host: "one.example" };
  const held = { id: "dlv_1", accountId: "ada", body: Buffer.alloc(9) } as LeasedDelivery;
  const move = (...steps: readonly DeliveryStep[]) => {
    for (const step of steps) room.move(held, step, load.host);
  };
  move("lease", "start", "answer");
  assert.deepEqual([room.of(load), room.ids()], [511, ["dlv_1"]]);
  assert.throws(() => move("start"), /a delivery that is recording cannot start/);
  move("record");
  assert.deepEqual([room.of(load), room.ids()], [512, []]);
  assert.throws(() => move("record"), /a delivery that is away cannot record/);
});

test("a closed room takes nothing more", () => {
  const room = new MemoryBudget();
  room.close();
  assert.equal(fill(room, "ada", "one.example"), 0);
});

/** Takes all that the owner may have, one at a time. */
function fillShares(shares: Shares, owner: string): number {
  while (shares.roomOf(owner) > 0) shares.add(owner, 1);
  return shares.heldBy(owner);
}

test("owners that take all they may leave a share for the next one", () => {
  const shares = new Shares(1_000, 1);
  assert.deepEqual(
    ["ada", "bob", "eve"].map((owner) => fillShares(shares, owner)),
    [500, 250, 125],
  );
  shares.add("ada", -500);
  assert.equal(fillShares(shares, "joe"), 313);
});

test("the room is what an owner gets by taking one after the other", () => {
  for (const factor of [1, 7]) {
    for (const max of [1, 2, 3, 8, 64]) {
      const shares = new Shares(max, factor);
      const room = shares.roomOf("ada");
      assert.equal(fillShares(shares, "ada"), room);
      assert.ok(room >= 1 && room <= max);
    }
  }
});
