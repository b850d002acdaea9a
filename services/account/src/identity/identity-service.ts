import type { KoaContextWithOIDC } from "oidc-provider";
import type { AccountService } from "../context/account-service.ts";
import type { IdentityProviderClient } from "../identity-providers/identity-provider-client.ts";
import type { Callers } from "./callers/callers.ts";
import type { PresentedToken } from "./callers/presented-token.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import type { Providers } from "./signing-keys/providers.ts";
import type { SigningKeys } from "./signing-keys/signing-keys.ts";

/** The built-in issuer leans on this, beside the accounts of its people. */
export interface IdentityService extends AccountService {
  readonly settings: IssuerSettings;
  readonly signingKeys: SigningKeys;
  /** Identifies those who send requests, and counts them. */
  readonly callers: Callers;
  readonly presentedToken: PresentedToken;
  readonly providers: Providers;
  readonly identityProviderClient: IdentityProviderClient;
}

/** Koa middleware: runs before the provider sees a request, and after it has answered. */
export type Middleware = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;
