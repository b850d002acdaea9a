import type { KeySet } from "@signalbox/auth";
import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool, type Sealer, type Tx } from "@signalbox/storage";
import {
  isOver,
  newSigningKey,
  nextActiveFrom,
  type PrivateJwk,
  publicJwkOf,
  publishedKeys,
  type SigningKey,
} from "./signing-key.ts";
import { createSigningKeyStore } from "./signing-key-store.ts";

/** The published keys at one moment. A changed set is another object. */
export interface KeyRing {
  /** The signing key comes first. */
  readonly privateKeys: readonly PrivateJwk[];
  readonly publicKeys: KeySet;
}

interface Dependencies {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly rotationDays: () => number;
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** The signing keys of the built-in issuer, as this instance knows them. */
export function createSigningKeys({ pool, sealer, clock, rotationDays }: Dependencies) {
  const store = createSigningKeyStore(sealer);
  const nextOf = (keys: readonly SigningKey[], now: Date) => nextActiveFrom(keys, now, rotationDays() * hours(24));
  let known: readonly SigningKey[] = [];
  let ring: KeyRing = { privateKeys: [], publicKeys: { keys: [] } };

  return {
    /** Returns the same ring until a key is added or removed. It is empty before the first `keep`. */
    current(): KeyRing {
      const published = publishedKeys(known, clock.now());
      if (!isRingOf(published, ring)) ring = ringOf(published);
      return ring;
    },
    /**
     * Reads the keys of other instances, creates the first key and due successors, and removes keys whose last token
     * has ended. Several instances may run it at once: one creates the key, and the others find it.
     */
    async keep(): Promise<void> {
      known = await store.list(pool);
      if (!isRotationDue()) return;
      await inTransaction(pool, rotate);
      known = await store.list(pool);
    },
  };

  function isRotationDue(): boolean {
    const now = clock.now();
    return nextOf(known, now) !== null || known.some((key) => isOver(key, now));
  }

  async function rotate(tx: Tx): Promise<void> {
    await store.lock(tx);
    const now = clock.now();
    const keys = await store.list(tx);
    const activeFrom = nextOf(keys, now);
    if (activeFrom) {
      await store.retire(tx, activeFrom);
      await store.insert(tx, newSigningKey(now, activeFrom));
    }
    for (const key of keys.filter((each) => isOver(each, now))) await store.remove(tx, key);
  }
}

function ringOf(published: readonly SigningKey[]): KeyRing {
  return {
    privateKeys: published.map(({ privateJwk }) => privateJwk),
    publicKeys: { keys: published.map(publicJwkOf) },
  };
}

function isRingOf(published: readonly SigningKey[], { privateKeys }: KeyRing): boolean {
  return (
    published.length === privateKeys.length &&
    published.every(({ privateJwk }, at) => privateJwk.kid === privateKeys[at]?.kid)
  );
}
