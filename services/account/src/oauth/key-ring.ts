import type { KeySet } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Pool } from "@signalbox/storage";
import { type PrivateJwk, publicJwkOf, publishedKeys, type SigningKey } from "./signing-key.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";

/** The published keys at one moment. Another set is another object. */
interface Ring {
  /** First the one that signs. */
  readonly privateKeys: readonly PrivateJwk[];
  readonly publicKeys: KeySet;
}

export interface KeyRing {
  /** Reads what other instances have made. */
  refresh(): Promise<void>;
  /** All keys that were there at the last `refresh`. */
  known(): readonly SigningKey[];
  /** The set of now: the same object for as long as nothing changes. Empty before the first `refresh`. */
  current(): Ring;
}

interface Dependencies {
  readonly pool: Pool;
  readonly signingKeys: Pick<SigningKeyStore, "list">;
  readonly clock: Clock;
}

/** This instance's knowledge of the signing keys. */
export function createKeyRing({ pool, signingKeys, clock }: Dependencies): KeyRing {
  let known: readonly SigningKey[] = [];
  let ring: Ring = { privateKeys: [], publicKeys: { keys: [] } };

  return {
    async refresh() {
      known = await signingKeys.list(pool);
    },
    known: () => known,
    current() {
      const published = publishedKeys(known, clock.now());
      if (!isSame(published, ring)) {
        ring = {
          privateKeys: published.map(({ privateJwk }) => privateJwk),
          publicKeys: { keys: published.map(publicJwkOf) },
        };
      }
      return ring;
    },
  };
}

function isSame(published: readonly SigningKey[], { privateKeys }: Ring): boolean {
  return (
    published.length === privateKeys.length &&
    published.every(({ privateJwk }, at) => privateJwk.kid === privateKeys[at]?.kid)
  );
}
