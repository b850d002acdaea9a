import { seconds } from "@signalbox/core";
import { createClientAddress, type Mounts } from "@signalbox/http";
import type { OutboundClient } from "@signalbox/net";
import type { Runner } from "@signalbox/runtime";
import { startRetention } from "@signalbox/storage";
import { confirmationPath } from "../contacts/contact-link.ts";
import type { AccountService } from "../context/account-service.ts";
import { firstLinkPath } from "../first-link/first-link.ts";
import { IdentityProviderClient } from "../identity-providers/identity-provider-client.ts";
import { invitationsPath } from "../invitations/invitation.ts";
import { issuedTokenRetention } from "../sign-ins/issued-tokens.ts";
import { KnownBrowsers, type LimiterOf, RequestLimits } from "./callers/callers.ts";
import { PresentedToken } from "./callers/presented-token.ts";
import { contactLinkListener } from "./contact-link-listener.ts";
import { firstLinkListener } from "./first-link-pages.ts";
import type { IdentityService } from "./identity-service.ts";
import { invitationListener } from "./invitation-pages.ts";
import { issuerSettings, metadataPrefix, mountPath } from "./issuer-settings.ts";
import { issuerListener } from "./listener.ts";
import { createProvider } from "./provider.ts";
import { Providers } from "./signing-keys/providers.ts";
import type { SigningKeys } from "./signing-keys/signing-keys.ts";
import { stateRetention } from "./state/state-store.ts";

/** Fills the context of the built-in issuer, an OpenID provider over our tables. */
export function openIdentityService(
  account: AccountService,
  signingKeys: SigningKeys,
  limiterOf: LimiterOf,
  outbound: OutboundClient,
): IdentityService {
  const { configuration, tokens } = account;
  const settings = issuerSettings(account);
  const { address, cookieKeys } = settings;
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const isSecure = address.issuer.startsWith("https:");
  const knownBrowsers = new KnownBrowsers({ cookieKeys, path: address.path, isSecure });
  const knownBrowser = knownBrowsers.of.bind(knownBrowsers);
  const limits = new RequestLimits({ configuration, limiterOf, clientAddress, knownBrowser });
  const service: IdentityService = {
    ...account,
    settings,
    signingKeys,
    callers: { clientAddress, knownBrowsers, limits },
    presentedToken: new PresentedToken(tokens),
    identityProviderClient: new IdentityProviderClient({
      outbound,
      clock: account.clock,
      clockSkewSeconds: configuration.get("auth.clock-skew"),
      callbackOf: ({ name }) => `${address.issuer}/callback/${name}`,
    }),
    providers: new Providers(signingKeys, (keys) => createProvider(service, keys)),
  };
  return service;
}

/** Creates the first signing key if there is none, and the provider that signs with it. */
export async function openIssuer({ signingKeys, providers }: IdentityService): Promise<void> {
  await signingKeys.keep();
  providers.current();
}

/** The listeners of the issuer and of the pages behind links, which need its session; the first match answers. */
export function issuerMounts(service: IdentityService): Mounts {
  const listener = issuerListener(service);
  return {
    [confirmationPath]: contactLinkListener(service),
    [invitationsPath]: invitationListener(service),
    [firstLinkPath]: firstLinkListener(service),
    [mountPath]: listener,
    [metadataPrefix]: listener,
  };
}

/** Starts the workers that rotate the signing keys and delete expired records. */
export function startIssuerWorkers({ signingKeys, pool, clock }: IdentityService, runner: Runner): void {
  // All instances publish a new key within moments, long before it signs.
  runner.every("signing keys", seconds(5), () => signingKeys.keep());
  startRetention({ runner, pool, clock }, [stateRetention, issuedTokenRetention]);
}
