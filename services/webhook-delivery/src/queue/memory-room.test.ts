import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedDelivery } from "./delivery-queue.ts";
import type { DeliveryStep } from "./delivery-states.ts";
import { MemoryRoom } from "./memory-room.ts";

/** Holds as many deliveries as the account may have at the host. */
function fill(room: MemoryRoom, accountId: string, host: string, body = Buffer.alloc(2)): number {
  let count = 0;
  while (room.of({ accountId, host }) > 0) {
    room.move({ id: `${accountId} ${host} ${count++}`, accountId, body } as LeasedDelivery, "lease", host);
  }
  return count;
}

const hosts = (count: number) => Array.from({ length: count }, (_, at) => `host-${at}.example`);

test("an account that fills its share, at one host or at many, leaves room for others", () => {
  const room = new MemoryRoom();
  assert.equal(fill(room, "ada", "hanging.example"), 512);
  for (const host of hosts(100)) fill(room, "ada", host);
  assert.equal(room.of({ accountId: "ada", host: "another.example" }), 0);
  assert.equal(room.of({ accountId: "bob", host: "quick.example" }), 512);
});

test("large bodies of one account leave room for others", () => {
  const room = new MemoryRoom();
  for (const host of hosts(100)) fill(room, "ada", host, Buffer.alloc(262_144));
  assert.ok(room.of({ accountId: "bob", host: "quick.example" }) > 16);
});

test("accounts with nothing in memory find room after many have filled their shares", () => {
  const room = new MemoryRoom();
  for (let account = 0; account < 40; account++) for (const host of hosts(10)) fill(room, `acc_${account}`, host);
  assert.equal(room.of({ accountId: "bob", host: "quick.example" }), 16);
});

test("a plan sees what it has taken itself, and leaves nothing behind", () => {
  const room = new MemoryRoom();
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
  const room = new MemoryRoom();
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
  const room = new MemoryRoom();
  room.close();
  assert.equal(fill(room, "ada", "one.example"), 0);
});
