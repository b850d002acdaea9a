import { builtInIssuer, type Issuer, type KeySet } from "@signalbox/auth";
import { privilegedScopes, scopes } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Pool, Sealer } from "@signalbox/storage";
import { type IssuerAddress, issuerAddress } from "./issuer-address.ts";
import { createKeepSigningKeys } from "./keep-signing-keys.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";
import { createSigningKeyStore } from "./signing-key-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly rotationDays: () => number;
}

/** What the built-in issuer signs with, and what its tokens are verified by. */
export interface Issuing {
  readonly address: IssuerAddress;
  readonly keyRing: KeyRing;
  /** Before the first call there are no keys. */
  readonly keepSigningKeys: () => Promise<void>;
  /** The issuer as the verifier of tokens knows it, and its keys. */
  readonly issuer: Issuer;
  readonly keys: () => KeySet;
}

export function createIssuing({ pool, sealer, clock, baseUrl, rotationDays }: Dependencies): Issuing {
  const address = issuerAddress(baseUrl);
  const signingKeys = createSigningKeyStore(sealer);
  const keyRing = createKeyRing({ pool, signingKeys, clock });
  return {
    address,
    keyRing,
    keepSigningKeys: createKeepSigningKeys({ pool, signingKeys, keyRing, clock, rotationDays }),
    issuer: issuerFrom(address),
    keys: () => keyRing.current().publicKeys,
  };
}

/** Its scopes were weighed against roles and clients when the token was made, so none needs to be held back. */
function issuerFrom({ issuer, audience }: IssuerAddress): Issuer {
  return {
    name: builtInIssuer,
    issuer,
    audience,
    algorithms: ["ES256"],
    "scopes-max": scopes.filter((scope) => !privilegedScopes.has(scope)),
    "roles-claim": "roles",
    roles: {},
  };
}
