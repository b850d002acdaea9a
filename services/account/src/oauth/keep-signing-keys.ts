import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { KeyRing } from "./key-ring.ts";
import { isOver, newSigningKey, nextActiveFrom, type SigningKey } from "./signing-key.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly signingKeys: SigningKeyStore;
  readonly keyRing: Pick<KeyRing, "refresh" | "known">;
  readonly clock: Clock;
  readonly rotationDays: () => number;
}

/**
 * Reads what other instances have made, makes the first key and the next one when it is time, and removes those whose
 * last token has ended. Several instances may do so at once: one makes the key, and the others find it made.
 */
export function createKeepSigningKeys({ pool, signingKeys, keyRing, clock, rotationDays }: Dependencies) {
  /** The sealing keys are those of the start. */
  let areResealed = false;

  return async function keepSigningKeys(): Promise<void> {
    if (!areResealed) await inTransaction(pool, reseal);
    areResealed = true;
    await keyRing.refresh();
    if (!isDue(keyRing.known())) return;
    await inTransaction(pool, rotate);
    await keyRing.refresh();
  };

  async function reseal(tx: Tx): Promise<void> {
    await signingKeys.lock(tx);
    await signingKeys.reseal(tx);
  }

  function isDue(keys: readonly SigningKey[]): boolean {
    const now = clock.now();
    return nextOf(keys, now) !== null || keys.some((key) => isOver(key, now));
  }

  async function rotate(tx: Tx): Promise<void> {
    await signingKeys.lock(tx);
    const now = clock.now();
    const keys = await signingKeys.list(tx);
    const activeFrom = nextOf(keys, now);
    if (activeFrom) {
      await signingKeys.retire(tx, activeFrom);
      await signingKeys.insert(tx, newSigningKey(now, activeFrom));
    }
    for (const key of keys.filter((each) => isOver(each, now))) await signingKeys.remove(tx, key);
  }

  function nextOf(keys: readonly SigningKey[], now: Date): Date | null {
    return nextActiveFrom(keys, now, rotationDays() * hours(24));
  }
}
