import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { eventually } from "@signalbox/testing";
import type { Cache } from "./cache.ts";

const soon = { expiresInMs: 60_000 };
const window = { limit: 10, windowMs: 60_000 };

/** The contract of every adapter. `open` returns two caches of one service, like those of two instances. */
export function cacheContract(adapter: string, caches: () => { cache: Cache; other: Cache }): void {
  const fresh = () => ({ ...caches(), key: randomUUID() });

  describe(`cache in ${adapter}`, () => {
    it("returns text, bytes or an empty value as stored", async () => {
      const { cache, key } = fresh();
      for (const value of ["text ✓", Buffer.from([0, 255, 10]), ""]) {
        await cache.set(key, value, soon);
        assert.deepEqual(await cache.get(key), Buffer.from(value));
      }
    });

    it("finds nothing under an unknown or deleted key", async () => {
      const { cache, key } = fresh();
      assert.equal(await cache.get(key), null);
      await cache.set(key, "value", soon);
      await cache.delete(key);
      await cache.delete(key);
      assert.equal(await cache.get(key), null);
    });

    it("removes a value when it expires", async () => {
      const { cache, key } = fresh();
      await cache.set(key, "value", { expiresInMs: 50 });
      await eventually(async () => (await cache.get(key)) === null);
    });

    it("keeps the stored value although its owner changes the buffer afterwards", async () => {
      const { cache, key } = fresh();
      const value = Buffer.from("value");
      await cache.set(key, value, soon);
      value.fill(0);
      (await cache.get(key))?.fill(0);
      assert.equal(String(await cache.get(key)), "value");
    });

    it("counts concurrent increments of all instances, each sum once", async () => {
      const { cache, other, key } = fresh();
      const sums = await Promise.all(
        Array.from({ length: 50 }, (_, turn) => (turn % 2 ? cache : other).increment(key, 2, soon)),
      );
      assert.deepEqual(
        sums.sort((a, b) => a - b),
        Array.from({ length: 50 }, (_, turn) => (turn + 1) * 2),
      );
    });

    it("starts a new count after the expiry of the first increment, independent of later ones", async () => {
      const { cache, key } = fresh();
      await cache.increment(key, 5, { expiresInMs: 2_000 });
      assert.equal(await cache.increment(key, 1, soon), 6);
      await eventually(async () => (await cache.increment(key, 0, soon)) === 0);
    });

    it("a counter is separate from the value of its name until delete removes both", async () => {
      const { cache, key } = fresh();
      await cache.set(key, "text", soon);
      assert.equal(await cache.increment(key, 1, soon), 1);
      await cache.delete(key);
      assert.deepEqual([await cache.get(key), await cache.increment(key, 1, soon)], [null, 1]);
    });

    it("grants a lease to one of many until it is released", async () => {
      const { cache, other, key } = fresh();
      const tries = await Promise.all(
        [cache, other, cache, other].map((each) => each.lease(key, { durationMs: 60_000 })),
      );
      const held = tries.filter((lease) => lease !== null);
      assert.equal(held.length, 1);
      await held[0]?.release();
      assert.notEqual(await other.lease(key, { durationMs: 60_000 }), null);
    });

    it("an expired lease passes on with a higher token, which the old holder cannot release", async () => {
      const { cache, other, key } = fresh();
      const first = await cache.lease(key, { durationMs: 50 });
      const second = await eventually(() => other.lease(key, { durationMs: 60_000 }));
      assert.ok(second.fencingToken > (first?.fencingToken ?? Number.NaN));
      await first?.release();
      assert.equal(await cache.lease(key, { durationMs: 60_000 }), null);
      await second.release();
      const third = await cache.lease(key, { durationMs: 60_000 });
      assert.ok((third?.fencingToken ?? 0) > second.fencingToken);
    });

    it("never grants more shares than the limit, in any pattern of requests", async () => {
      const { cache, other, key } = fresh();
      const grants = await Promise.all(
        [4, 3, 4, 3].map((wanted, turn) => (turn % 2 ? cache : other).takeShares(key, { wanted, ...window })),
      );
      assert.equal(
        grants.reduce((sum, grant) => sum + (grant?.granted ?? 0), 0),
        10,
      );
      const after = await cache.takeShares(key, { wanted: 1, ...window });
      assert.deepEqual([after?.granted, after?.remaining], [0, 0]);
      assert.ok((after?.resetMs ?? 0) > 0 && (after?.resetMs ?? 0) <= 60_000);
    });

    it("reports what remains of a window, until the next one grants afresh", async () => {
      const { cache, key } = fresh();
      const short = { limit: 10, windowMs: 300 };
      const first = await cache.takeShares(key, { wanted: 8, ...short });
      assert.deepEqual([first?.granted, first?.remaining], [8, 2]);
      await eventually(async () => (await cache.takeShares(key, { wanted: 9, ...short }))?.granted === 9);
    });

    it("is up", () => {
      assert.equal(caches().cache.state, "up");
    });
  });
}
