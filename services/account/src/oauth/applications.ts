import { randomBytes } from "node:crypto";
import type { ClientMetadata } from "oidc-provider";
import { z } from "zod";

const loopbacks: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * A redirect URI: a web address, this machine, or the application's own scheme with a dot in it (RFC 8252 §7.1), which
 * excludes `javascript:` and the like.
 */
const redirectUri = z
  .url()
  .refine((uri) => !uri.includes("#"), "a redirect has no fragment")
  .refine((uri) => {
    const { protocol = "", hostname = "" } = URL.parse(uri) ?? {};
    return protocol === "https:" || (protocol === "http:" ? loopbacks.has(hostname) : protocol.includes("."));
  }, "use https, a loopback address, or a scheme with a dot in it");

/**
 * An application of the deployment that people sign in to. It has no secret: it runs where its users could read one.
 */
const Application = z.strictObject({
  client_id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use a–z, 0–9 and hyphens"),
  name: z.string().min(1).max(100),
  redirect_uris: z.array(redirectUri).min(1),
  post_logout_redirect_uris: z.array(redirectUri).default([]),
});

export type Application = z.output<typeof Application>;

/**
 * Parses the property `account.oauth.applications`: a JSON list, because an application is a record and properties are
 * flat.
 *
 * @throws Error that names every wrong member.
 */
export function parseApplications(text: string): readonly Application[] {
  const parsed = z
    .array(Application)
    .refine((all) => new Set(all.map(({ client_id }) => client_id)).size === all.length, "duplicate client_id")
    .safeParse(json(text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the list"}: ${message}`);
  throw new Error(`account.oauth.applications is wrong: ${problems.join("; ")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('account.oauth.applications is not JSON: expected [{ "client_id", "name", "redirect_uris" }]', {
      cause: error,
    });
  }
}

/** Converts an application to the provider's metadata. */
export function metadataOfApplication({ client_id, name, ...uris }: Application): ClientMetadata {
  return {
    client_id,
    client_name: name,
    ...uris,
    // A native application's loopback redirect may have any port (RFC 8252 §7.3).
    application_type: uris.redirect_uris.some(isNative) ? "native" : "web",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // The response mode that posts needs a script, which our pages never run.
    response_modes: ["query"],
    token_endpoint_auth_method: "none",
  };
}

function isNative(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== "https:" && (protocol !== "http:" || loopbacks.has(hostname));
}

/** A configured application cannot have this id, which has a dot in it. */
const ownClientId = "signalbox.pages";

/** Our own pages as a client application. */
export const ownPages = (issuer: string): Application => ({
  client_id: ownClientId,
  name: "Signalbox",
  redirect_uris: [redirectOf(issuer)],
  post_logout_redirect_uris: [],
});

const redirectOf = (issuer: string): string => `${issuer}/contact-links`;

/**
 * Builds the request for a sign-in that returns to a link. The browser's session counts afterwards: the returned code
 * is useless, because its verifier is thrown away.
 */
export function signInUrl(issuer: string, linkToken: string): string {
  const request = new URLSearchParams({
    client_id: ownClientId,
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
