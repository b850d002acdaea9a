import { builtInIssuer, type TokenVerifier } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import type { Identity } from "../accounts/account-store.ts";

export type IdentityOfToken =
  | { outcome: "identity"; identity: Identity }
  | { outcome: "refused" }
  | { outcome: "no-login" };

/**
 * Whose login a token is of. A program's token is nobody's login, and one of the built-in issuer acts for an account
 * that it names by itself. @throws AppError `unavailable` while the keys of its issuer cannot be read.
 */
export function createIdentityOfToken({ tokens }: { readonly tokens: TokenVerifier }) {
  return async function identityOfToken(token: string): Promise<IdentityOfToken> {
    try {
      const { issuer, subject, kind } = await tokens.verify(token);
      if (kind !== "token" || issuer === builtInIssuer) return { outcome: "no-login" };
      return { outcome: "identity", identity: { issuer, subject } };
    } catch (error) {
      if (isAppError(error) && error.code === "unauthorized") return { outcome: "refused" };
      throw error;
    }
  };
}

export type IdentityOfTokenVerb = ReturnType<typeof createIdentityOfToken>;
