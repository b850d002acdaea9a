import { builtInIssuer } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { Identity } from "../accounts/account-store.ts";
import type { IdentityStore } from "./identity-store.ts";

interface Dependencies {
  readonly identities: Pick<IdentityStore, "hasManagingKey">;
  readonly clock: Clock;
  /** Whether the holder of a verified contact address can sign in with it: the built-in issuer runs. */
  readonly signsInByMail: boolean;
}

/**
 * Whether somebody could get into an account and manage it, if these were its logins: by a verified address at the
 * built-in issuer, by a login at another one, or by an API key.
 */
export function createHasWayIn({ identities, clock, signsInByMail }: Dependencies) {
  return async function hasWayIn(tx: Tx, account: Account, logins: readonly Identity[]): Promise<boolean> {
    const { id, contactAddressVerified } = account;
    const signsIn = signsInByMail ? contactAddressVerified : logins.some(({ issuer }) => issuer !== builtInIssuer);
    return signsIn || identities.hasManagingKey(tx, id, clock.now());
  };
}

export type HasWayIn = ReturnType<typeof createHasWayIn>;
