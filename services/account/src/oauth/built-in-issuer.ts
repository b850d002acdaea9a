import type { RequestListener } from "node:http";
import type { TokenVerifier } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { ClientAddress } from "@signalbox/http";
import type { Pool, Sealer } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type Provider from "oidc-provider";
import type { AccessLog } from "../access/access-log.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { MakeAccountVerb } from "../accounts/make-account.ts";
import type { Audit } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { ServiceClientStore } from "../credentials/service-client.ts";
import { acceptsSecret, digestClientSecret } from "../credentials/service-client.ts";
import type { Mails } from "../mail/mails.ts";
import { createAdapter } from "./adapter.ts";
import type { Application } from "./applications.ts";
import { createMakeProvider } from "./create-provider.ts";
import { createIssuedTokenStore } from "./issued-token-store.ts";
import type { IssuerAddress } from "./issuer-address.ts";
import type { KeyRing } from "./key-ring.ts";
import { createNoteRefusedClient } from "./note-refused-client.ts";
import { createOauthListener } from "./oauth-listener.ts";
import { createOauthStateStore } from "./oauth-state-store.ts";
import { createPresentToken } from "./present-token.ts";
import { createPresentedToken } from "./presented-token.ts";
import { providerConfiguration } from "./provider-configuration.ts";
import { createRecordIssuedToken } from "./record-issued-token.ts";
import { createRevokeTokens } from "./revoke-tokens.ts";
import { createSendSignInCode } from "./send-sign-in-code.ts";
import { createSignIn } from "./sign-in.ts";
import { createSignInAccountStore } from "./sign-in-account-store.ts";
import { createSignInListener } from "./sign-in-listener.ts";
import { createTrimOauth } from "./trim-oauth.ts";

interface Dependencies {
  readonly address: IssuerAddress;
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly keyRing: KeyRing;
  readonly tokens: TokenVerifier;
  readonly accounts: Pick<AccountStore, "find">;
  readonly clients: Pick<ServiceClientStore, "findUsable" | "findById" | "touch">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Logger;
  readonly applications: readonly Application[];
  readonly accessTokenSeconds: number;
  readonly cookieKeys: readonly string[];
  readonly oneTimeCodes: OneTimeCodes;
  readonly mails: Mails;
  readonly makeAccount: MakeAccountVerb;
  readonly noteRefusal: NoteRefusal;
  readonly clientAddress: ClientAddress;
  readonly defaultLocale: () => string;
}

export interface BuiltInIssuer {
  /** Everything under `/oauth`. */
  readonly listener: RequestListener;
  /** Removes what has ended by itself. */
  readonly trim: () => Promise<void>;
}

/** The issuer that runs when no other is configured: an OpenID provider over our accounts, clients and tables. */
export function createBuiltInIssuer(dependencies: Dependencies): BuiltInIssuer {
  const { pool, sealer, keyRing, clients, clock, log } = dependencies;
  const oauthState = createOauthStateStore({ pool, sealer });
  const issuedTokens = createIssuedTokenStore(pool);
  const presentedToken = createPresentedToken();
  const revokeTokens = createRevokeTokens({ ...dependencies, issuedTokens, oauthState });
  const adapter = createAdapter({ oauthState, issuedTokens, clients, presentedToken, revokeTokens, clock });
  const recordIssuedToken = createRecordIssuedToken({ pool, issuedTokens, oauthState });
  const makeProvider = createMakeProvider({
    ...dependencies,
    configuration: () => providerConfiguration({ ...dependencies, adapter, recordIssuedToken }),
    acceptsSecret: isSecretOf,
    noteRefusedClient: createNoteRefusedClient(dependencies),
  });
  const provider = madeOncePerRing(keyRing, makeProvider);
  const presentToken = createPresentToken({ ...dependencies, presentedToken });
  const signInAccounts = createSignInAccountStore();
  const answerSignIn = createSignInListener({
    ...dependencies,
    sendSignInCode: createSendSignInCode({ ...dependencies, signInAccounts }),
    signIn: createSignIn({ ...dependencies, signInAccounts }),
  });

  return {
    listener: createOauthListener({ ...dependencies, provider, presentToken, answerSignIn }),
    trim: createTrimOauth({ oauthState, issuedTokens, clock }),
  };

  async function isSecretOf(clientId: string, secret: string): Promise<boolean> {
    const digest = digestClientSecret(secret);
    const client = await clients.findUsable(clientId);
    if (!digest || !client || !acceptsSecret(client, digest, clock.now())) return false;
    clients
      .touch(clientId, clock.now())
      .catch((error) => log.warn({ error }, "the use of a client could not be noted"));
    return true;
  }
}

/** A provider takes its keys when it is made, so another set of keys is another provider over the same tables. */
function madeOncePerRing(keyRing: KeyRing, make: ReturnType<typeof createMakeProvider>): () => Provider {
  let ring = keyRing.current();
  let provider = make(ring.privateKeys);
  return () => {
    const now = keyRing.current();
    if (now !== ring) provider = make(now.privateKeys);
    ring = now;
    return provider;
  };
}
