import { type Clock, KiB, minutes, seconds } from "@signalbox/core";
import { isOutboundError, type OutboundClient } from "@signalbox/net";
import type { Configuration, CustomFetch, CustomFetchOptions, ServerMetadata } from "openid-client";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { ProfileClaims } from "../registration/provisioning.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/** Loaded at the first sign-in with a provider, which most processes never see. */
const openid = () => import("openid-client");

/** A sign-in that a provider has been asked for: what its answer must match. Kept sealed on our side. */
export interface PendingSignIn {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A person as their provider has proved them. */
export interface ProvenPerson {
  readonly subject: string;
  /** The address that the provider has verified; null without one. */
  readonly address: string | null;
  readonly claims: ProfileClaims;
  /** Seconds since 1970 at which the person signed in there; null where the provider does not say it. */
  readonly signedInAt: number | null;
}

export type ProviderAnswer =
  | { readonly outcome: "proven"; readonly person: ProvenPerson }
  /** `denied`: the person or the provider has refused it. */
  | { readonly outcome: "denied" | "unavailable" | "refused"; readonly error: unknown };

/** Time for which a discovery document is used before it is read again. */
const maxAgeMs = minutes(10);
/** Makes providers tell when the person signed in (OpenID Connect Core §3.1.2.1), and hardly ever ask them again. */
const signInAgeMaxSeconds = 30 * 86_400;

interface Dependencies {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly clockSkewSeconds: number;
  /** Our address that a provider returns to. */
  readonly callbackOf: (provider: IdentityProvider) => string;
}

/** Signs people in with OpenID Connect providers: the authorization code flow with PKCE, state, nonce and `iss`. */
export class IdentityProviderClient {
  readonly #dependencies: Dependencies;
  readonly #discovered = new Map<string, { readonly at: number; readonly metadata: Promise<ServerMetadata> }>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Builds the request for a sign-in. @throws Error while the provider cannot be reached */
  async begin(
    provider: IdentityProvider,
    state: string,
    { loginHint, isForced }: { readonly loginHint: string | null; readonly isForced: boolean },
  ): Promise<{ readonly url: URL; readonly pending: PendingSignIn }> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier } = await openid();
    const configuration = await this.#configurationOf(provider);
    const pending = { provider: provider.name, state, nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const request = new URLSearchParams({
      redirect_uri: this.#dependencies.callbackOf(provider),
      scope: provider.scopes.join(" "),
      state,
      nonce: pending.nonce,
      code_challenge: await calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: "S256",
      max_age: String(signInAgeMaxSeconds),
    });
    if (loginHint !== null) request.set("login_hint", loginHint);
    if (isForced) request.set("prompt", "login");
    return { url: buildAuthorizationUrl(configuration, request), pending };
  }

  /** Judges the answer of a provider, and exchanges its code for what it says about the person. */
  async complete(provider: IdentityProvider, pending: PendingSignIn, answer: URLSearchParams): Promise<ProviderAnswer> {
    const { authorizationCodeGrant, fetchUserInfo } = await openid();
    try {
      const configuration = await this.#configurationOf(provider);
      const back = new URL(`${this.#dependencies.callbackOf(provider)}?${answer}`);
      const tokens = await authorizationCodeGrant(configuration, back, {
        pkceCodeVerifier: pending.verifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      const ofToken = tokens.claims();
      if (!ofToken) throw new Error("the provider sent no ID token");
      // Where an access token is issued, the claims of a scope may be at this endpoint alone (Core §5.4).
      const needsMore = ofToken.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
      const more = needsMore ? await fetchUserInfo(configuration, tokens.access_token, ofToken.sub) : {};
      return { outcome: "proven", person: personOf(provider, { ...more, ...ofToken }) };
    } catch (error) {
      return { outcome: failureOf(error), error };
    }
  }

  async #configurationOf(provider: IdentityProvider): Promise<Configuration> {
    const library = await openid();
    const metadata = await this.#metadataOf(provider);
    // The key set is read for each sign-in, so that a rotated key is known at once.
    const client = { [library.clockTolerance]: this.#dependencies.clockSkewSeconds };
    const authentication = await authenticationFor(provider, metadata);
    const configuration = new library.Configuration({ ...metadata }, provider.client_id, client, authentication);
    configuration[library.customFetch] = this.#fetch;
    if (provider.issuer.startsWith("http:")) library.allowInsecureRequests(configuration);
    // The ID token's signature counts too, not only the connection that it came by.
    library.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  #metadataOf(provider: IdentityProvider): Promise<ServerMetadata> {
    const now = this.#dependencies.clock.steadyMs();
    const known = this.#discovered.get(provider.name);
    if (known && now - known.at < maxAgeMs) return known.metadata;
    const metadata = this.#discover(provider);
    this.#discovered.set(provider.name, { at: now, metadata });
    metadata.catch(() => this.#discovered.delete(provider.name));
    return metadata;
  }

  async #discover({ issuer, client_id: clientId }: IdentityProvider): Promise<ServerMetadata> {
    const library = await openid();
    const configuration = await library.discovery(new URL(issuer), clientId, undefined, library.None(), {
      [library.customFetch]: this.#fetch,
      execute: issuer.startsWith("http:") ? [library.allowInsecureRequests] : [],
    });
    return { ...configuration.serverMetadata() };
  }

  readonly #fetch: CustomFetch = async (url, { method, headers, body }) => {
    const answer = await this.#dependencies.outbound.request({
      url,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body: bodyOf(body),
      deadlineMs: seconds(5),
      responseBytesMax: 512 * KiB,
      requireHttps: true,
    });
    const type = answer.headers["content-type"] ?? "";
    const isEmpty = answer.status === 204 || answer.status === 304;
    return new Response(isEmpty ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: { "content-type": type },
    });
  };
}

function bodyOf(body: CustomFetchOptions["body"]): string | Uint8Array | null {
  if (body === null || body === undefined) return null;
  return body instanceof Uint8Array ? body : String(body);
}

/** A provider that names no method takes HTTP Basic (OpenID Connect Discovery §3). */
async function authenticationFor({ client_secret: secret }: IdentityProvider, metadata: ServerMetadata) {
  const { ClientSecretBasic, ClientSecretPost, None } = await openid();
  if (secret === undefined) return None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

function personOf({ verified_claim: verifiedClaim }: IdentityProvider, claims: ProfileClaims): ProvenPerson {
  const { sub, email, auth_time: at, [verifiedClaim]: verified } = claims;
  // Some providers write the truth as a text or a number.
  const isVerified = [true, "true", 1, "1"].includes(verified as boolean | string | number);
  const address = typeof email === "string" ? normalized(email).trim() : "";
  return {
    subject: String(sub),
    address: isVerified && checkContactAddress(address) === null ? address : null,
    claims,
    signedInAt: typeof at === "number" ? at : null,
  };
}

const passing: ReadonlySet<unknown> = new Set(["temporarily_unavailable", "server_error"]);
const refusals: ReadonlySet<unknown> = new Set(["access_denied", "login_required", "consent_required"]);

/** Distinguishes a refusal and an outage of the provider from an answer that proves nothing. */
function failureOf(error: unknown): "denied" | "unavailable" | "refused" {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if (isOutboundError(one)) return "unavailable";
    if ("error" in one && passing.has(one.error)) return "unavailable";
    if ("error" in one && refusals.has(one.error)) return "denied";
    if (one.cause instanceof Response && one.cause.status >= 500) return "unavailable";
  }
  return "refused";
}
