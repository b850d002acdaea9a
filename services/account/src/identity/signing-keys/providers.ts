import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import type { PrivateJwk } from "./signing-key.ts";
import type { KeyRing, SigningKeys } from "./signing-keys.ts";

/** A provider takes its keys when it is created, so a new key ring needs a new provider over the same tables. */
export class Providers {
  readonly #signingKeys: SigningKeys;
  readonly #create: (keys: readonly PrivateJwk[]) => Provider;
  readonly #providers = new WeakMap<KeyRing, Provider>();
  readonly #handlers = new WeakMap<Provider, RequestListener>();

  constructor(signingKeys: SigningKeys, create: (keys: readonly PrivateJwk[]) => Provider) {
    this.#signingKeys = signingKeys;
    this.#create = create;
  }

  /** Returns the provider with the present keys. */
  current(): Provider {
    const ring = this.#signingKeys.current();
    const provider = this.#providers.get(ring) ?? this.#create(ring.privateKeys);
    this.#providers.set(ring, provider);
    return provider;
  }

  handOn(request: IncomingMessage, response: ServerResponse): void {
    const current = this.current();
    const handler = this.#handlers.get(current) ?? (current.callback() as RequestListener);
    this.#handlers.set(current, handler);
    handler(request, response);
  }
}
