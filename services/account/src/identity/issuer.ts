import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { builtInIssuer, parseIssuers, type TokenVerifier } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { startRetention } from "@signalbox/storage";
import type Provider from "oidc-provider";
import type { ApplicationStore } from "../applications/application-store.ts";
import type { Base } from "../base.ts";
import type { ServiceClientStore } from "../credentials/service-client.ts";
import type { Pages } from "../pages/pages.ts";
import { createTokens } from "../principals/principals.ts";
import type { Configured } from "../properties.ts";
import { type IssuedTokens, issuedTokenRetention } from "../sign-ins/issued-tokens.ts";
import type { SignInList } from "../sign-ins/sign-in-list.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";
import { createAdapter } from "./adapter.ts";
import { type Callers, createCallers, type LimiterOf, type RequestLimits } from "./callers/callers.ts";
import { createPresentedToken, type PresentedToken } from "./callers/presented-token.ts";
import { createConsent } from "./consent.ts";
import { createDevicePages } from "./device-grant-pages.ts";
import { createHomePages } from "./home-page.ts";
import { type FollowedLink, type IssuerSettings, issuerSettings, signInUrl, trustedIssuer } from "./issuer-settings.ts";
import { createListener, type OurPages } from "./listener.ts";
import { createPasskeyPages } from "./passkey-pages.ts";
import { createProvider } from "./provider.ts";
import { createProviderClients, isApplicationId } from "./provider-clients.ts";
import { createGrantRecords, providerConfiguration } from "./provider-configuration.ts";
import { createProviderPages } from "./provider-pages.ts";
import { createRefreshTokens } from "./refresh-tokens.ts";
import { createSignInListener, type Proving } from "./sign-in-listener.ts";
import { createSignOut } from "./sign-out.ts";
import type { PrivateJwk } from "./signing-keys/signing-key.ts";
import { createSigningKeys, type KeyRing, type SigningKeys } from "./signing-keys/signing-keys.ts";
import { type StateStore, stateRetention } from "./state/state-store.ts";

export interface BuiltInIssuer {
  /** Verifies the tokens of this issuer. */
  readonly tokens: TokenVerifier;
  /** Serves everything under `/oauth` once the issuer is open. */
  readonly listener: RequestListener;
  /** The account that this browser is signed in to; null without a session. */
  signedInAccount(request: IncomingMessage, response: ServerResponse): Promise<string | null>;
  /** Counts requests of browsers. */
  readonly limits: Pick<RequestLimits, "page">;
  /** The address at which a browser signs in, even if already signed in, and returns to a link. */
  signInUrl(link: FollowedLink): string;
  /** Creates the first signing key if there is none, and the provider that signs with it. */
  open(): Promise<void>;
  /** Starts the workers that rotate the signing keys and delete expired records. */
  startWorkers(runner: Pick<Runner, "every" | "housekeeping">): void;
}

interface Stores {
  readonly stateStore: StateStore;
  readonly signInStore: Pick<SignInStore, "note" | "findBySession">;
  readonly serviceClientStore: Pick<ServiceClientStore, "findUsable" | "findById" | "touch">;
  readonly applicationStore: Pick<ApplicationStore, "find">;
}

interface Dependencies {
  readonly base: Pick<Base, "pool" | "sealer" | "accountStore" | "audit" | "auditRefusals">;
  readonly stores: Stores;
  readonly issuedTokens: IssuedTokens;
  readonly proving: Proving;
  readonly signInList: SignInList;
  readonly pages: Pages;
  readonly limiterOf: LimiterOf;
}

/** Opens the built-in issuer, an OpenID provider over our tables; null when another issuer is configured. */
export function openIssuer(context: Configured, dependencies: Dependencies): BuiltInIssuer | null {
  const { configuration, clock, log } = context;
  if (parseIssuers(configuration.get("auth.issuers")).length > 0) return null;
  const { base, pages, limiterOf } = dependencies;
  const { pool, sealer } = base;
  const settings = issuerSettings(context);
  const { address, cookieKeys } = settings;
  const rotationDays = () => configuration.get("account.oauth.key-rotation-days");
  const signingKeys = createSigningKeys({ pool, sealer, clock, rotationDays });
  const publicKeys = () => signingKeys.current().publicKeys;
  const tokens = createTokens(context, [trustedIssuer(address)], { [builtInIssuer]: publicKeys });
  const cookies = { cookieKeys, path: address.path, isSecure: address.issuer.startsWith("https:") };
  const callers = createCallers(configuration, cookies, limiterOf);
  const { limits } = callers;
  const presentedToken = createPresentedToken(tokens);
  const make = providerOf(context, dependencies, { settings, callers, presentedToken });
  const provider = onePerKeyRing(signingKeys, make);
  const ourPages = ourPagesOf(context, dependencies, { settings, callers });
  const fixed = new Set(settings.applications.map(({ id }) => id));
  const isApplication = async (id: string): Promise<boolean> =>
    fixed.has(id) || (isApplicationId(id) && (await dependencies.stores.applicationStore.find(id)) !== null);

  return {
    tokens,
    listener: createListener({
      address,
      provider,
      presentedToken,
      ourPages,
      limits,
      isApplication,
      pages,
      log,
    }),
    async signedInAccount(request, response) {
      const current = provider();
      address.force(request);
      return (await current.Session.get(current.createContext(request, response))).accountId ?? null;
    },
    limits,
    signInUrl: (link) => signInUrl(address.issuer, link),
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
  readonly settings: IssuerSettings;
  readonly callers: Callers;
  readonly presentedToken: PresentedToken;
}

/** The pages that are ours and not the provider's. */
function ourPagesOf(
  { clock }: Configured,
  { base, proving, signInList, pages }: Dependencies,
  { settings, callers }: Pick<Issuing, "settings" | "callers">,
): OurPages {
  const { pool, accountStore, audit } = base;
  const { passkeys, ceremonies } = proving;
  const { clientAddress } = callers;
  const { address } = settings;
  const consent = createConsent({ accountStore, audit, pool, clientAddress, audience: address.audience, pages });
  const signInParts = { pool, settings, proving, callers, pages, consent };
  const passkeyParts = { pool, address, accountStore, passkeys, ceremonies, clientAddress, pages, clock };
  return {
    answerSignIn: createSignInListener(signInParts),
    ...createHomePages({ pool, settings, accountStore, signInList, clientAddress, pages, clock }),
    ...createPasskeyPages(passkeyParts),
  };
}

/** Prepares the provider; it is created for each set of signing keys. */
function providerOf(
  { clock, log }: Configured,
  { base, stores, issuedTokens, pages }: Dependencies,
  { settings, callers, presentedToken }: Issuing,
): (signingKeys: readonly PrivateJwk[]) => Provider {
  const { pool, accountStore, audit, auditRefusals } = base;
  const { stateStore, signInStore, serviceClientStore, applicationStore } = stores;
  const { clientAddress } = callers;
  const providerPages = createProviderPages(pages, settings.address);
  const devicePages = createDevicePages({ pages, limits: callers.limits, clientAddress, now: () => clock.now() });
  const providerClients = createProviderClients({ serviceClientStore, applicationStore, auditRefusals, clock, log });
  const refreshTokens = createRefreshTokens({ pool, stateStore, issuedTokens, clock, log });
  const signOut = createSignOut({ pool, audit, signInStore, issuedTokens, clientAddress });
  const grantRecords = createGrantRecords({ pool, issuedTokens, signInStore, clientAddress, clock });
  const adapter = createAdapter({
    pool,
    stateStore,
    issuedTokens,
    providerClients,
    presentedToken,
    refreshTokens,
    clock,
  });
  return (signingKeys) =>
    createProvider({
      settings,
      configuration: providerConfiguration({
        settings,
        signingKeys,
        adapter,
        accountStore,
        grantRecords,
        providerPages,
        devicePages,
        clock,
      }),
      providerClients,
      refreshTokens,
      providerPages,
      steps: [signOut, devicePages.step],
      callers,
      log,
    });
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
