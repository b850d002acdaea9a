import type { KeySet } from "@signalbox/auth";
import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool, type Sealer, type Tx } from "@signalbox/storage";
import {
  dueKeys,
  isOver,
  newSigningKey,
  type PrivateJwk,
  publicJwkOf,
  publishedKeys,
  type SigningKey,
} from "./signing-key.ts";
import {
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  removeSigningKey,
  retireSigningKeys,
} from "./signing-key-store.ts";

/** The published keys at one moment. A changed set is another object. */
export interface KeyRing {
  /** The signing key of each algorithm comes before its others. */
  readonly privateKeys: readonly PrivateJwk[];
  readonly publicKeys: KeySet;
}

interface SigningKeysOptions {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Called at each look, because the property is live. */
  readonly rotationDays: () => number;
}

/** The signing keys of the built-in issuer, as this instance knows them. */
export class SigningKeys {
  readonly #options: SigningKeysOptions;
  #known: readonly SigningKey[] = [];
  #ring: KeyRing = { privateKeys: [], publicKeys: { keys: [] } };

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  /** Returns the same ring until a key is added or removed. It is empty before the first `keep`. */
  current(): KeyRing {
    const published = publishedKeys(this.#known, this.#options.clock.now());
    if (!isRingOf(published, this.#ring)) this.#ring = ringOf(published);
    return this.#ring;
  }

  /**
   * Reads the keys of other instances, creates the first keys and due successors, and removes keys whose last token has
   * ended. Several instances may run it at once: one creates the keys, and the others find them.
   */
  async keep(): Promise<void> {
    const { pool, sealer } = this.#options;
    this.#known = await listSigningKeys(pool, sealer);
    if (!this.#isRotationDue()) return;
    await inTransaction(pool, (tx) => this.#rotate(tx));
    this.#known = await listSigningKeys(pool, sealer);
  }

  #isRotationDue(): boolean {
    const now = this.#options.clock.now();
    return this.#dueOf(this.#known, now).length > 0 || this.#known.some((key) => isOver(key, now));
  }

  #dueOf(keys: readonly SigningKey[], now: Date): ReturnType<typeof dueKeys> {
    return dueKeys(keys, now, this.#options.rotationDays() * hours(24));
  }

  async #rotate(tx: Tx): Promise<void> {
    const { sealer, clock } = this.#options;
    await lockSigningKeys(tx);
    const now = clock.now();
    const keys = await listSigningKeys(tx, sealer);
    for (const { algorithm, activeFrom } of this.#dueOf(keys, now)) {
      await retireSigningKeys(tx, algorithm, activeFrom);
      await insertSigningKey(tx, sealer, await newSigningKey(algorithm, now, activeFrom));
    }
    for (const key of keys.filter((each) => isOver(each, now))) await removeSigningKey(tx, key);
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
