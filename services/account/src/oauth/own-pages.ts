import { randomBytes } from "node:crypto";
import type { Application } from "./applications.ts";
import type { IssuerAddress } from "./issuer-address.ts";

/** No application that is configured can have this id, which has a dot in it. */
const clientId = "signalbox.pages";

/** Our own pages as an application that people sign in to. */
export const ownPages = ({ issuer }: Pick<IssuerAddress, "issuer">): Application => ({
  client_id: clientId,
  name: "Signalbox",
  redirect_uris: [redirectOf(issuer)],
  post_logout_redirect_uris: [],
});

const redirectOf = (issuer: string): string => `${issuer}/contact-links`;

/**
 * Writes the request for a sign-in that leads back to a link. What counts is the session of the browser afterwards: the
 * code that comes along is of no use, since nobody knows its verifier.
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
