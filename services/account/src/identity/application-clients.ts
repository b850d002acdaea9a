import type { Scope } from "@signalbox/contracts";
import type { ClientMetadata } from "oidc-provider";
import type { Application } from "../applications/application.ts";

/** Our own metadata of an application, by names that RFC 7591 does not define. */
export const applicationMetadata = ["application_scopes", "application_consent", "application_party"];

/** Converts an application to the provider's metadata; a secret is compared by its digest, never by this one. */
export function metadataOfApplication(application: Application, secret?: string): ClientMetadata {
  const { id, name, type, redirectUris, postLogoutRedirectUris, logoUrl } = application;
  const hasBrowser = type !== "device";
  const hasDevice = type === "device" || type === "native";
  return {
    client_id: id,
    client_name: name,
    ...(logoUrl !== null && { logo_uri: logoUrl }),
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: [...postLogoutRedirectUris],
    // A native application's loopback redirect may have any port (RFC 8252 §7.3).
    application_type: type === "native" || type === "device" ? "native" : "web",
    grant_types: [...(hasBrowser ? ["authorization_code"] : []), ...(hasDevice ? [deviceGrant] : []), "refresh_token"],
    response_types: hasBrowser ? ["code"] : [],
    id_token_signed_response_alg: application.idTokenSignedResponseAlg,
    ...(type === "server"
      ? { token_endpoint_auth_method: "client_secret_basic", client_secret: secret }
      : { token_endpoint_auth_method: "none" }),
    application_scopes: application.scopes,
    application_consent: application.consent,
    application_party: application.party,
  };
}

/** The grant type of RFC 8628. */
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** Returns true for an application that has what the person consents to, and nothing else. */
export const asksConsent = (client: object | undefined): boolean =>
  (client as { readonly application_consent?: unknown } | undefined)?.application_consent === "ask";

/** The most that the tokens of a client may do, if it is a limited application; else null. */
export const limitOf = (client: object | undefined): unknown =>
  (client as { readonly application_scopes?: unknown } | undefined)?.application_scopes ?? null;

/** The scopes of `all` that the tokens of an application with this limit may have. */
export const withinLimit = (limit: unknown, all: readonly Scope[]): readonly Scope[] =>
  Array.isArray(limit) ? all.filter((scope) => limit.includes(scope)) : all;
