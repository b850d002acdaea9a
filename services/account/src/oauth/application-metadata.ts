import type { ClientMetadata } from "oidc-provider";
import { type Application, loopbacks } from "./applications.ts";

/** An application as the provider knows it. */
export function metadataOf({ client_id, name, ...uris }: Application): ClientMetadata {
  return {
    client_id,
    client_name: name,
    ...uris,
    // A native application's loopback redirect may have any port (RFC 8252 §7.3).
    application_type: uris.redirect_uris.some(isNative) ? "native" : "web",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // The mode that posts needs a script, which our pages never run.
    response_modes: ["query"],
    token_endpoint_auth_method: "none",
  };
}

function isNative(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== "https:" && (protocol !== "http:" || loopbacks.has(hostname));
}
