import { randomBytes } from "node:crypto";
import type { Application } from "./applications.ts";
import type { IssuerAddress } from "./issuer-address.ts";

/** A configured application cannot have this id, which has a dot in it. */
const clientId = "signalbox.pages";

/** Our own pages as a client application. */
export const ownPages = ({ issuer }: Pick<IssuerAddress, "issuer">): Application => ({
  client_id: clientId,
  name: "Signalbox",
  redirect_uris: [redirectOf(issuer)],
  post_logout_redirect_uris: [],
});

const redirectOf = (issuer: string): string => `${issuer}/contact-links`;

/**
 * Builds the request for a sign-in that returns to a link. The browser's session counts afterwards: the returned code
 * is useless, because its verifier is thrown away.
 */
export function signInUrl({ issuer }: Pick<IssuerAddress, "issuer">, linkToken: string): string {
  const request = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectOf(issuer),
    response_type: "code",
    scope: "openid",
    prompt: "login",
    state: linkToken,
    code_challenge: randomBytes(32).toString("base64url"),
    code_challenge_method: "S256",
  });
  return `${issuer}/authorize?${request}`;
}
