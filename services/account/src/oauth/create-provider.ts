import Provider, { type Configuration } from "oidc-provider";
import type { IssuerAddress } from "./issuer-address.ts";
import { providerSteps } from "./provider-steps.ts";
import type { PrivateJwk } from "./signing-key.ts";
import { type Watching, watchProvider } from "./watch-provider.ts";

interface Dependencies extends Watching {
  readonly address: IssuerAddress;
  readonly configuration: () => Configuration;
  /** Whether the text is a secret of this service client. */
  readonly acceptsSecret: (clientId: string, secret: string) => Promise<boolean>;
}

/** Makes providers: one for each set of keys, since a provider takes its keys when it is made. */
export function createMakeProvider({ address, configuration, acceptsSecret, ...watching }: Dependencies) {
  return function makeProvider(keys: readonly PrivateJwk[]): Provider {
    const provider = new Provider(address.issuer, { ...configuration(), jwks: { keys } });
    // Its address is set on every request before it sees it.
    provider.proxy = true;
    provider.Client.prototype.compareClientSecret = function compareClientSecret(secret) {
      return acceptsSecret(this.clientId, secret);
    };
    for (const step of providerSteps(address)) provider.use(step);
    watchProvider(provider, watching);
    return provider;
  };
}
