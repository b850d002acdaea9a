import { randomBytes } from "node:crypto";
import type { Caller } from "@signalbox/auth";
import { Copies } from "@signalbox/cache";
import { type Clock, hours, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, isLive, olderAfter, type Pool, type Tx } from "@signalbox/storage";
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
const copies = { max: 10_000, ttlMs: seconds(1) };

/** The keys that sign the URLs of an account: the current and the previous one. */
export function createSigningKeys({ pool, signingKeyStore, outbox, clock }: Dependencies) {
  const byId = new Copies((keyId) => signingKeyStore.find(keyId), copies);
  const signing = new Copies(
    async (accountId) => (await signingKeyStore.list(accountId))[0] ?? first(accountId),
    copies,
  );

  /** Creation time is forced to be after the previous key's, even if clocks differ. */
  function newKey(accountId: string, former: LiveKey | undefined): LiveKey {
    const createdAt = new Date(Math.max(clock.nowMs(), (former?.createdAt.getTime() ?? 0) + 1));
    return { id: randomId("key"), accountId, secret: randomBytes(32), createdAt, endsAt: null };
  }

  /** Creates the first key of an account, unless another request was faster. */
  const first = (accountId: string): Promise<LiveKey> =>
    inTransaction(pool, async (tx) => {
      const [made] = await signingKeyStore.lock(tx, accountId);
      if (made) return made;
      const key = newKey(accountId, undefined);
      await signingKeyStore.insert(tx, key);
      return key;
    });

  return {
    /** Finds a live key. */
    async find(keyId: string): Promise<LiveKey | null> {
      const key = await byId.find(keyId);
      return key && isLive(key, clock.now()) ? key : null;
    },

    /** Returns true while `find` would return this very key. */
    isCurrent: (key: LiveKey): boolean => byId.holds(key.id, key) && isLive(key, clock.now()),

    /** Returns the signing key of an account and creates the first one on demand. */
    forSigning: (accountId: string): Promise<LiveKey> => signing.find(accountId),

    /**
     * Rotates an account's key, and returns the new one and the older ones. URLs of the previous key stay valid until they
     * expire, the overlap ends or the next rotation; those of older keys end now, so no limit refuses a rotation.
     */
    async rotate(tx: Tx, caller: Caller, overlapMs = longestOverlapMs) {
      const { accountId } = caller;
      const keys = await signingKeyStore.lock(tx, accountId);
      const older = olderAfter(keys, { overlapMs, now: clock.now() }).slice(0, liveMax - 1);
      const key = newKey(accountId, keys[0]);
      await signingKeyStore.keepOlder(tx, accountId, older);
      await signingKeyStore.insert(tx, key);
      await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
      signing.forgetAfter(tx, [accountId]);
      byId.forgetAfter(
        tx,
        keys.map(({ id }) => id),
      );
      return { key, older };
    },
  };
}
