import { hkdfSync, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { builtInIssuer, type Issuer, ownRoleNames } from "@signalbox/auth";
import { privilegedScopes, scopes } from "@signalbox/contracts";
import { errorDocsAt } from "@signalbox/core";
import { type Application, builtInApplications, parseApplications } from "../applications/application.ts";
import type { AccountService } from "../context/account-service.ts";

/** The settings of the built-in issuer, which stay the same until a restart. */
export interface IssuerSettings {
  readonly address: IssuerAddress;
  /** The applications that stay the same until a restart: built in, declared, and our own pages. */
  readonly applications: readonly Application[];
  readonly accessTokenSeconds: number;
  /** The first one signs the issuer's cookies, all verify. */
  readonly cookieKeys: readonly string[];
  /** The page that explains the error codes. */
  readonly errorDocs: string;
}

export function issuerSettings({ configuration }: AccountService): IssuerSettings {
  const address = issuerAddress(configuration.get("http.base-url"));
  return {
    address,
    applications: [
      ...builtInApplications(address.audience),
      ...parseApplications(configuration.get("account.oauth.applications")),
      ownPages(address.issuer),
    ],
    accessTokenSeconds: configuration.get("account.oauth.access-token-minutes") * 60,
    cookieKeys: configuration.get("secrets.keys").map(cookieKeyFrom),
    errorDocs: errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url")),
  };
}

const cookieKeyFrom = (sealingKey: string): string =>
  Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account oauth cookies", 32)).toString("base64url");

/** The public address of the built-in issuer: every URL in its answers starts with it, regardless of the request. */
export interface IssuerAddress {
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

/** The cookie that binds a sign-in to a browser. */
export const interactionCookie = "signalbox_sign_in";

/** The prefix of this service's own paths; publicly the path of `http.base-url` precedes it. */
export const mountPath = "/oauth";

/** The prefix of issuers' metadata on a host; the issuer's path follows. */
export const metadataPrefix = "/.well-known/oauth-authorization-server";

export function issuerAddress(baseUrl: string): IssuerAddress {
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
    "audience-claim": "aud",
    algorithms: ["ES256"],
    "scopes-max": scopes.filter((scope) => !privilegedScopes.has(scope)),
    "roles-claim": "roles",
    roles: ownRoleNames,
    provision: "any",
  };
}

/** No other application can have this id, which has a dot in it. */
const ownClientId = "signalbox.pages";

/** Our own pages as a client application. */
const ownPages = (issuer: string): Application => ({
  id: ownClientId,
  name: "Signalbox",
  type: "browser",
  redirectUris: ownFolders.map((folder) => redirectOf(issuer, folder)),
  postLogoutRedirectUris: [],
  scopes: null,
  logoUrl: null,
  party: "first",
  consent: "none",
  idTokenSignedResponseAlg: "RS256",
});

/** Our own pages that a sign-in returns to; behind a link, with its token as the state. */
const ownFolders = ["contact-links", "invitations", "first-link", "home", "passkeys", "sign-ins"] as const;

type OwnFolder = (typeof ownFolders)[number];

const redirectOf = (issuer: string, folder: OwnFolder): string => `${issuer}/${folder}`;

/** A page of our own whose reader signs in. */
export interface FollowedLink {
  readonly folder: OwnFolder;
  readonly token: string;
  /** The address that is offered at the sign-in. */
  readonly address?: string | null;
}

/**
 * Builds the request for a sign-in that returns to one of our pages. The browser's session counts afterwards: the
 * returned code is useless, because its verifier is thrown away.
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
