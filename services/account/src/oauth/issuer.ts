import { hkdfSync } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { builtInIssuer, parseIssuers, type TokenVerifier } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import { createClientAddress } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";
import { type Sealer, startRetention } from "@signalbox/storage";
import type Provider from "oidc-provider";
import type { ServiceClientStore } from "../credentials/service-client.ts";
import type { Pages } from "../pages/pages.ts";
import { createTokens } from "../principals/principals.ts";
import type { Configured } from "../properties.ts";
import type { Shared } from "../shared.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";
import type { SignIns } from "../sign-ins/sign-ins.ts";
import type { PrivateJwk } from "../signing-keys/signing-key.ts";
import { createSigningKeys, type KeyRing, type SigningKeys } from "../signing-keys/signing-keys.ts";
import { createAdapter } from "./adapter.ts";
import { metadataOfApplication, parseApplications } from "./applications.ts";
import { type IssuedTokens, issuedTokenRetention } from "./issued-tokens.ts";
import { type IssuerAddress, issuerAddress, trustedIssuer } from "./issuer-address.ts";
import { createKnownBrowsers } from "./known-browser.ts";
import { createListener } from "./listener.ts";
import { ownPages, signInUrl } from "./own-pages.ts";
import { createPresentedToken } from "./presented-token.ts";
import { createProvider } from "./provider.ts";
import { createProviderClients } from "./provider-clients.ts";
import { providerConfiguration } from "./provider-configuration.ts";
import { createProviderPages } from "./provider-pages.ts";
import { createRefreshTokens } from "./refresh-tokens.ts";
import { createRequestLimits, type LimiterOf, type RequestLimits } from "./request-limits.ts";
import { createSignInListener } from "./sign-in-listener.ts";
import { createSignOut } from "./sign-out.ts";
import { type StateStore, stateRetention } from "./state-store.ts";

export interface BuiltInIssuer {
  /** Verifies the tokens of this issuer. */
  readonly tokens: TokenVerifier;
  /** Serves everything under `/oauth` once the issuer is open. */
  readonly listener: RequestListener;
  /** The account that this browser is signed in to; null without a session. */
  signedInAccount(request: IncomingMessage, response: ServerResponse): Promise<string | null>;
  /** Counts requests of browsers. */
  readonly limits: Pick<RequestLimits, "page">;
  /** The address at which a browser signs in, even if already signed in, and returns to a confirming link. */
  signInUrl(linkToken: string): string;
  /** Creates the first signing key if there is none, and the provider that signs with it. */
  open(): Promise<void>;
  /** Starts the workers that rotate the signing keys and delete expired records. */
  startWorkers(runner: Pick<Runner, "every" | "housekeeping">): void;
}

interface Dependencies extends Pick<Shared, "pool" | "accounts" | "audit" | "auditRefusals"> {
  readonly sealer: Sealer;
  readonly state: StateStore;
  readonly issuedTokens: IssuedTokens;
  readonly signIns: SignIns;
  readonly signInStore: Pick<SignInStore, "note" | "findBySession">;
  readonly pages: Pages;
  readonly clients: Pick<ServiceClientStore, "findUsable" | "findById" | "touch">;
  readonly limiterOf: LimiterOf;
}

/** Creates the built-in issuer, an OpenID provider over our tables; null when another issuer is configured. */
export function createIssuer(
  { configuration, clock, log }: Configured,
  dependencies: Dependencies,
): BuiltInIssuer | null {
  if (parseIssuers(configuration.get("auth.issuers")).length > 0) return null;
  const { pool, sealer } = dependencies;
  const parts = { ...dependencies, clock, log, providerPages: createProviderPages(dependencies.pages) };

  const address = issuerAddress(configuration.get("http.base-url"));
  const rotationDays = () => configuration.get("account.oauth.key-rotation-days");
  const signingKeys = createSigningKeys({ pool, sealer, clock, rotationDays });
  const publicKeys = () => signingKeys.current().publicKeys;
  const tokens = createTokens({ configuration, clock, log }, [trustedIssuer(address)], { [builtInIssuer]: publicKeys });

  const cookieKeys = cookieKeysFrom(configuration.get("secrets.keys"));
  const applications = [...parseApplications(configuration.get("account.oauth.applications")), ownPages(address)];
  const callers = createCallers(configuration, dependencies, { address, cookieKeys, applications });
  const { limits, clientAddress } = callers;
  const providerClients = createProviderClients(parts);
  const presentedToken = createPresentedToken(tokens);
  const refreshTokens = createRefreshTokens(parts);
  const signOut = createSignOut({ ...parts, clientAddress });
  const settings = {
    ...parts,
    address,
    clientAddress,
    adapter: createAdapter({ ...parts, providerClients, presentedToken, refreshTokens }),
    accessTokenSeconds: configuration.get("account.oauth.access-token-minutes") * 60,
    cookieKeys,
  };
  const provider = onePerKeyRing(signingKeys, (keys) => {
    const metadata = applications.map(metadataOfApplication);
    const configured = providerConfiguration({ ...settings, applications: metadata, signingKeys: keys });
    const errorDocs = configuration.get("http.error-docs");
    const shared = { ...parts, ...callers, address, providerClients, refreshTokens, signOut, errorDocs };
    return createProvider({ ...shared, configuration: configured });
  });
  const answerSignIn = createSignInListener({ ...parts, ...callers, address, cookieKeys });

  return {
    tokens,
    listener: createListener({ ...parts, address, provider, presentedToken, answerSignIn, limits }),
    async signedInAccount(request, response) {
      const current = provider();
      address.force(request);
      return (await current.Session.get(current.createContext(request, response))).accountId ?? null;
    },
    limits,
    signInUrl: (linkToken) => signInUrl(address, linkToken),
    async open() {
      await signingKeys.keep();
      provider();
    },
    startWorkers(runner) {
      // All instances publish a new key within moments, long before it signs.
      runner.every("signing keys", seconds(5), signingKeys.keep);
      startRetention({ runner, pool, clock }, [stateRetention, issuedTokenRetention]);
    },
  };
}

interface Issuing {
  readonly address: IssuerAddress;
  readonly cookieKeys: readonly string[];
  readonly applications: readonly { readonly client_id: string }[];
}

/** Identifies clients: their address, browser and request counts. */
function createCallers(
  configuration: Configured["configuration"],
  { limiterOf }: Pick<Dependencies, "limiterOf">,
  { address: { issuer, path }, cookieKeys, applications: known }: Issuing,
) {
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const knownBrowsers = createKnownBrowsers({ cookieKeys, path, isSecure: issuer.startsWith("https:") });
  const applications = new Set(known.map(({ client_id }) => client_id));
  const limits = createRequestLimits({ configuration, limiterOf, clientAddress, knownBrowsers, applications });
  return { clientAddress, knownBrowsers, limits };
}

/** Derives the keys that sign the issuer's cookies, one from each of `secrets.keys`: the first signs, all verify. */
function cookieKeysFrom(sealingKeys: readonly string[]): readonly string[] {
  return sealingKeys.map((key) =>
    Buffer.from(hkdfSync("sha256", key, "", "signalbox account oauth cookies", 32)).toString("base64url"),
  );
}

/** A provider takes its keys when it is created, so a new key ring needs a new provider over the same tables. */
function onePerKeyRing(
  signingKeys: Pick<SigningKeys, "current">,
  make: (keys: readonly PrivateJwk[]) => Provider,
): () => Provider {
  const providers = new WeakMap<KeyRing, Provider>();
  return () => {
    const ring = signingKeys.current();
    const provider = providers.get(ring) ?? make(ring.privateKeys);
    providers.set(ring, provider);
    return provider;
  };
}
