import { type Credential, looksLikeApiKey, type Principal, type PrincipalSource } from "@signalbox/auth";
import { AppError } from "@signalbox/core";

interface Dependencies {
  readonly principalFromApiKey: (text: string) => Promise<Principal>;
  readonly principalFromToken: (token: string) => Promise<Principal>;
}

/** Whose credential is this? The answer for this service's own edge and, over `POST /internal/principals`, for all others. */
export function createResolvePrincipal({ principalFromApiKey, principalFromToken }: Dependencies): PrincipalSource {
  return {
    resolve({ kind, value }: Credential) {
      if (looksLikeApiKey(value)) return principalFromApiKey(value);
      if (kind === "bearer") return principalFromToken(value);
      throw new AppError("unauthorized", "This is not an API key.");
    },
  };
}
