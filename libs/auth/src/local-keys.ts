import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";

/** Public keys as RFC 7517 §5 writes them. */
export interface KeySet {
  readonly keys: readonly object[];
}

/**
 * The keys of an issuer that runs in this process. `read` answers the set of now; a set is imported once, for as long as
 * `read` gives the same object.
 */
export function createLocalKeys(read: () => KeySet): JWTVerifyGetKey {
  let current: KeySet | null = null;
  let keys = createLocalJWKSet({ keys: [] });

  return (header, token) => {
    const set = read();
    if (set !== current) {
      keys = createLocalJWKSet(set as JSONWebKeySet);
      current = set;
    }
    return keys(header, token);
  };
}
