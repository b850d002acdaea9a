import { text } from "node:stream/consumers";
import { createOidcIssuer, type OidcIssuer } from "./oidc/oidc-issuer.ts";
import type { TokenClaims } from "./oidc/token.ts";
import { serveListener } from "./serve-listener.ts";

type WriteToken = (claims: TokenClaims) => string;

/** An OpenID provider whose ID tokens the test writes. */
export interface ScriptedProvider {
  readonly issuer: string;
  readonly signer: OidcIssuer;
  /**
   * Builds the address that the provider would return a browser to, for a request of ours. `write` makes the ID token of
   * its code from the right claims, which name no person.
   */
  redirect(request: URL, write: WriteToken, more?: Readonly<Record<string, string>>): URL;
  close(): Promise<void>;
}

/** Starts a provider on 127.0.0.1 without a page of its own. */
export async function createScriptedProvider(): Promise<ScriptedProvider> {
  const signer = await createOidcIssuer({ algorithm: "ES256" });
  const idTokens = new Map<string, string>();
  const server = await serveListener(async (request, response) => {
    const document = {
      issuer: server.url,
      jwks_uri: `${signer.issuer}/keys`,
      authorization_endpoint: `${server.url}/authorize`,
      token_endpoint: `${server.url}/token`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256", "none"],
      authorization_response_iss_parameter_supported: true,
    };
    const code = new URLSearchParams(await text(request)).get("code") ?? "";
    const tokens = { access_token: "opaque", token_type: "Bearer", id_token: idTokens.get(code) };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(request.url === "/token" ? tokens : document));
  });
  return {
    issuer: server.url,
    signer,
    redirect(request, write, more = {}) {
      const { redirect_uri = "", state = "", nonce, client_id } = Object.fromEntries(request.searchParams);
      const code = crypto.randomUUID();
      idTokens.set(code, write({ iss: server.url, aud: client_id, nonce, email_verified: true }));
      return new URL(`${redirect_uri}?${new URLSearchParams({ code, state, iss: server.url, ...more })}`);
    },
    async close() {
      await Promise.all([server.close(), signer.close()]);
    },
  };
}
