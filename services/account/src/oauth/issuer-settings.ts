import { hkdfSync, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { builtInIssuer, type Issuer, ownRoleNames } from "@signalbox/auth";
import { privilegedScopes, scopes } from "@signalbox/contracts";
import { errorDocsAt } from "@signalbox/core";
import type { ClientMetadata } from "oidc-provider";
import { z } from "zod";
import type { Configured } from "../properties.ts";

/** The settings of the built-in issuer, which stay the same until a restart. */
export interface IssuerSettings {
  readonly address: IssuerAddress;
  /** The applications that people sign in to, our own pages included. */
  readonly applications: readonly Application[];
  readonly accessTokenSeconds: number;
  /** The first one signs the issuer's cookies, all verify. */
  readonly cookieKeys: readonly string[];
  /** The page that explains the error codes. */
  readonly errorDocs: string;
}

export function issuerSettings({ configuration }: Pick<Configured, "configuration">): IssuerSettings {
  const address = issuerAddress(configuration.get("http.base-url"));
  return {
    address,
    applications: [...parseApplications(configuration.get("account.oauth.applications")), ownPages(address.issuer)],
    accessTokenSeconds: configuration.get("account.oauth.access-token-minutes") * 60,
    cookieKeys: configuration.get("secrets.keys").map(cookieKeyFrom),
    errorDocs: errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url")),
  };
}

/** Derives a key that signs cookies from one of `secrets.keys`. */
const cookieKeyFrom = (sealingKey: string): string =>
  Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account oauth cookies", 32)).toString("base64url");

/** The public address of the built-in issuer: every URL in its answers starts with it, regardless of the request. */
export interface IssuerAddress {
  /** The issuer's identifier. */
  readonly issuer: string;
  /** The audience of access tokens: the whole deployment. */
  readonly audience: string;
  /** The path of the issuer behind the edge, such as `/oauth`. */
  readonly path: string;
  /** Returns the requested path below the issuer. Metadata requests come from outside of it, too (RFC 8414 §3.1). */
  below(path: string): string;
  /** Rewrites a request as if it had been sent to this address. */
  force(request: IncomingMessage): void;
}

/** The prefix of this service's own paths; publicly the path of `http.base-url` precedes it. */
export const mountPath = "/oauth";

/** The prefix of issuers' metadata on a host; the issuer's path follows. */
export const metadataPrefix = "/.well-known/oauth-authorization-server";

function issuerAddress(baseUrl: string): IssuerAddress {
  const { host, protocol, pathname } = new URL(baseUrl);
  const scheme = protocol.slice(0, -1);
  const path = `${pathname.replace(/\/$/, "")}${mountPath}`;
  // An edge may have removed the path of the deployment.
  const metadataPaths = new Set([path, mountPath].map((issuer) => `${metadataPrefix}${issuer}`));
  return {
    issuer: `${baseUrl}${mountPath}`,
    audience: baseUrl,
    path,
    below: (asked) => (metadataPaths.has(asked) ? metadataPrefix : asked.slice(mountPath.length)),
    force({ headers }) {
      headers.host = host;
      headers["x-forwarded-host"] = host;
      headers["x-forwarded-proto"] = scheme;
    },
  };
}

/**
 * Describes the built-in issuer to the token verifier. Its scopes were checked against roles and clients at issue, so
 * none needs to be dropped.
 */
export function trustedIssuer({ issuer, audience }: IssuerAddress): Issuer {
  return {
    name: builtInIssuer,
    issuer,
    audience,
    algorithms: ["ES256"],
    "scopes-max": scopes.filter((scope) => !privilegedScopes.has(scope)),
    "roles-claim": "roles",
    roles: ownRoleNames,
    provision: "any",
  };
}

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
const ownPages = (issuer: string): Application => ({
  client_id: ownClientId,
  name: "Signalbox",
  redirect_uris: ownFolders.map((folder) => redirectOf(issuer, folder)),
  post_logout_redirect_uris: [],
});

/** The folders of our own pages behind links: a sign-in returns to one, with the token of the link as its state. */
const ownFolders = ["contact-links", "invitations", "first-link"] as const;

type OwnFolder = (typeof ownFolders)[number];

const redirectOf = (issuer: string, folder: OwnFolder): string => `${issuer}/${folder}`;

/** A link whose reader signs in. */
export interface FollowedLink {
  readonly folder: OwnFolder;
  readonly token: string;
  /** The address that is offered at the sign-in. */
  readonly address?: string | null;
}

/**
 * Builds the request for a sign-in that returns to a link. The browser's session counts afterwards: the returned code
 * is useless, because its verifier is thrown away.
 */
export function signInUrl(issuer: string, { folder, token, address }: FollowedLink): string {
  const request = new URLSearchParams({
    client_id: ownClientId,
    redirect_uri: redirectOf(issuer, folder),
    response_type: "code",
    scope: "openid",
    prompt: "login",
    state: token,
    code_challenge: randomBytes(32).toString("base64url"),
    code_challenge_method: "S256",
    ...(address && { login_hint: address }),
  });
  return `${issuer}/authorize?${request}`;
}

/** Returns the link whose page a sign-in comes from; null for any other sign-in. */
export function followedLink(issuer: string, params: Readonly<Record<string, unknown>>): FollowedLink | null {
  const { client_id, redirect_uri, state } = params;
  const folder = ownFolders.find((one) => redirect_uri === redirectOf(issuer, one));
  const isOurs = client_id === ownClientId && folder !== undefined && typeof state === "string";
  return isOurs ? { folder, token: state } : null;
}
