import { randomBytes } from "node:crypto";
import { type Caller, requireStepUp } from "@signalbox/auth";
import { type Clock, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
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
/** A removed key verifies no longer than any other revocation takes. */
const rememberedMs = seconds(1);

/** The keys that sign the URLs of an account: the current and the previous one. */
export function createSigningKeys({ pool, signingKeyStore, outbox, clock }: Dependencies) {
  const byId = new LRUCache<string, Promise<LiveKey | null>>({ max: 10_000, ttl: rememberedMs });
  const signing = new LRUCache<string, LiveKey>({ max: 10_000, ttl: rememberedMs });

  /** Creation time is forced to be after the previous key's, even if clocks differ. */
  function newKey(accountId: string, former: LiveKey | undefined): LiveKey {
    const createdAt = new Date(Math.max(clock.nowMs(), (former?.createdAt.getTime() ?? 0) + 1));
    return { id: randomId("key"), accountId, secret: randomBytes(32), createdAt };
  }

  return {
    /** Finds a live key. */
    find(keyId: string): Promise<LiveKey | null> {
      const known = byId.get(keyId);
      if (known) return known;
      const found = signingKeyStore.find(keyId);
      byId.set(keyId, found);
      found.catch(() => byId.delete(keyId));
      return found;
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
     * Rotates an account's key. URLs of the previous key stay valid until they expire or the next rotation; those of
     * older keys end now.
     */
    async rotate(tx: Tx, caller: Caller): Promise<{ readonly key: LiveKey; readonly former: LiveKey | null }> {
      requireStepUp(caller, clock);
      const { accountId } = caller;
      const live = await signingKeyStore.lock(tx, accountId);
      const key = newKey(accountId, live[0]);
      await signingKeyStore.insert(tx, key);
      const gone = live.slice(liveMax - 1).map(({ id }) => id);
      await signingKeyStore.removeMany(tx, gone);
      await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
      tx.afterCommit(() => {
        signing.delete(accountId);
        for (const id of gone) byId.delete(id);
      });
      return { key, former: live[0] ?? null };
    },
  };
}
