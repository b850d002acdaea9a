import { builtInIssuer, createTokenVerifier, parseIssuers, type TokenVerifier } from "@signalbox/auth";
import type { Issuing } from "../oauth/issuing.ts";
import type { Configured } from "../properties.ts";
import { createPrincipalFromApiKey } from "./principal-from-api-key.ts";
import { createPrincipalFromToken } from "./principal-from-token.ts";
import { createResolvePrincipal } from "./resolve-principal.ts";

type PrincipalParts = Omit<Parameters<typeof createPrincipalFromApiKey>[0], "clock" | "onTouchFailure"> &
  Parameters<typeof createPrincipalFromToken>[0];

/** Whose credential is this: what this service's own edge asks, and every other service over the internal listener. */
export function createPrincipals({ clock, log }: Configured, parts: PrincipalParts) {
  return createResolvePrincipal({
    principalFromToken: createPrincipalFromToken(parts),
    principalFromApiKey: createPrincipalFromApiKey({
      ...parts,
      clock,
      onTouchFailure: (error) => log.warn({ error }, "the use of an API key could not be noted"),
    }),
  });
}

/** Verifies the tokens of the configured issuers, or of the built-in one where none is. */
export function createTokens({ configuration, clock, log }: Configured, issuing: Issuing | null): TokenVerifier {
  return createTokenVerifier({
    issuers: issuing ? [issuing.issuer] : parseIssuers(configuration.get("auth.issuers")),
    clock,
    clockSkewSeconds: configuration.get("auth.clock-skew"),
    onKeysFailure: (issuer, error) => log.warn({ issuer, error }, "the keys of an issuer could not be read"),
    localKeys: issuing ? { [builtInIssuer]: issuing.keys } : {},
  });
}
