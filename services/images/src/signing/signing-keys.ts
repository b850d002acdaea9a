import { randomBytes } from "node:crypto";
import { type Caller, requireStepUp } from "@signalbox/auth";
import { type Clock, hours, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, isLive, olderAfter, type Pool, type Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { LiveKey, SigningKeyStore } from "./signing-key-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly signingKeyStore: SigningKeyStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** The signing key and the previous one, whose URLs stay valid. */
const liveMax = 2;
/** Every URL that a key signed has expired by then: it lives for a week, and up to a day is added. */
const longestOverlapMs = hours(8 * 24);
/** A removed key verifies no longer than any other revocation takes. */
const rememberedMs = seconds(1);

/** The keys that sign the URLs of an account: the current and the previous one. */
export function createSigningKeys({ pool, signingKeyStore, outbox, clock }: Dependencies) {
  const byId = new LRUCache<string, Promise<LiveKey | null>>({ max: 10_000, ttl: rememberedMs });
  const signing = new LRUCache<string, LiveKey>({ max: 10_000, ttl: rememberedMs });

  /** Creation time is forced to be after the previous key's, even if clocks differ. */
  function newKey(accountId: string, former: LiveKey | undefined): LiveKey {
    const createdAt = new Date(Math.max(clock.nowMs(), (former?.createdAt.getTime() ?? 0) + 1));
    return { id: randomId("key"), accountId, secret: randomBytes(32), createdAt, endsAt: null };
  }

  function read(keyId: string): Promise<LiveKey | null> {
    const found = signingKeyStore.find(keyId);
    byId.set(keyId, found);
    found.catch(() => byId.delete(keyId));
    return found;
  }

  return {
    /** Finds a live key. */
    async find(keyId: string): Promise<LiveKey | null> {
      const key = await (byId.get(keyId) ?? read(keyId));
      return key && isLive(key, clock.now()) ? key : null;
    },

    /** Returns the signing key of an account and creates the first one on demand. */
    async forSigning(accountId: string): Promise<LiveKey> {
      const known = signing.get(accountId) ?? (await signingKeyStore.list(accountId))[0];
      const key =
        known ??
        (await inTransaction(pool, async (tx) => {
          const [made] = await signingKeyStore.lock(tx, accountId);
          if (made) return made;
          const first = newKey(accountId, undefined);
          await signingKeyStore.insert(tx, first);
          return first;
        }));
      signing.set(accountId, key);
      return key;
    },

    /**
     * Rotates an account's key, and returns the new one and the older ones. URLs of the previous key stay valid until they
     * expire, the overlap ends or the next rotation; those of older keys end now, so no limit refuses a rotation.
     */
    async rotate(tx: Tx, caller: Caller, overlapMs = longestOverlapMs) {
      requireStepUp(caller, clock);
      const { accountId } = caller;
      const keys = await signingKeyStore.lock(tx, accountId);
      const older = olderAfter(keys, { overlapMs, now: clock.now() }).slice(0, liveMax - 1);
      const key = newKey(accountId, keys[0]);
      await signingKeyStore.keepOlder(tx, accountId, older);
      await signingKeyStore.insert(tx, key);
      await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
      tx.afterCommit(() => {
        signing.delete(accountId);
        for (const { id } of keys) byId.delete(id);
      });
      return { key, older };
    },
  };
}
