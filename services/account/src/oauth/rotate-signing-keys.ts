import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import { isOver, newSigningKey, nextActiveFrom } from "./signing-key.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly signingKeys: SigningKeyStore;
  readonly clock: Clock;
  readonly rotationDays: () => number;
}

/**
 * Makes the first key, the next one when it is time, and removes those whose last token has ended. Several instances may
 * do so at once: one makes the key, and the others find it made.
 */
export function createRotateSigningKeys({ pool, signingKeys, clock, rotationDays }: Dependencies) {
  return function rotateSigningKeys(): Promise<void> {
    return inTransaction(pool, async (tx) => {
      await signingKeys.lock(tx);
      const now = clock.now();
      const keys = await signingKeys.list(tx);
      const activeFrom = nextActiveFrom(keys, now, rotationDays() * hours(24));
      if (activeFrom) {
        await signingKeys.retire(tx, activeFrom);
        await signingKeys.insert(tx, newSigningKey(now, activeFrom));
      }
      for (const key of keys.filter((each) => isOver(each, now))) await signingKeys.remove(tx, key);
    });
  };
}
