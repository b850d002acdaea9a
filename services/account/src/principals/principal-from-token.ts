import {
  builtInIssuer,
  type Principal,
  type PrincipalCredential,
  type TokenVerifier,
  type VerifiedToken,
} from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { ProvisionAccountVerb } from "../accounts/provision-account.ts";
import type { StepUpStore } from "../step-up/step-up-store.ts";

interface Dependencies {
  readonly tokens: TokenVerifier;
  readonly accounts: Pick<AccountStore, "find">;
  readonly provisionAccount: ProvisionAccountVerb;
  readonly stepUps: Pick<StepUpStore, "find">;
}

/**
 * The principal of an access token. The first use of an identity makes its account; a token of the built-in issuer says
 * for which account it acts.
 */
export function createPrincipalFromToken({ tokens, accounts, provisionAccount, stepUps }: Dependencies) {
  return async function principalFromToken(text: string): Promise<Principal> {
    const token = await tokens.verify(text);
    const account = await accountOf(token);
    return {
      accountId: account.id,
      state: account.status,
      epoch: account.accessEpoch,
      scopes: token.scopes,
      roles: token.roles,
      credential: await withStepUp(credentialOf(token), account.id),
      expiresAt: token.expiresAt,
    };
  };

  /** A code that the person was sent proves as much as a sign-in; the later of both counts. */
  async function withStepUp(credential: PrincipalCredential, accountId: string): Promise<PrincipalCredential> {
    const stepUp = credential.kind === "token" ? await stepUps.find(accountId, credential.id) : null;
    if (stepUp === null) return credential;
    return { ...credential, authTimeMs: Math.max(credential.authTimeMs ?? 0, stepUp.at.getTime()) };
  }

  async function accountOf({ issuer, subject, id, claims }: VerifiedToken): Promise<Account> {
    if (issuer !== builtInIssuer) {
      return provisionAccount({ identity: { issuer, subject }, claims, credential: id });
    }
    const account = await accounts.find(String(claims.account_id));
    if (account && account.purgedAt === null) return account;
    throw new AppError("unauthorized", "The account of this token does not exist any more.");
  }
}

/** A client of ours is known by its own id, so that its tokens share one allowance and end with it. */
function credentialOf({ issuer, kind, id, subject, authTimeMs }: VerifiedToken): PrincipalCredential {
  if (issuer === builtInIssuer && kind === "client") return { kind, id: subject, tokenId: id, authTimeMs: null };
  return { kind, id, authTimeMs };
}
