import type { IncomingMessage } from "node:http";
import { builtInIssuer, type Issuer, ownRoleNames } from "@signalbox/auth";
import { privilegedScopes, scopes } from "@signalbox/contracts";

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
    algorithms: ["ES256"],
    "scopes-max": scopes.filter((scope) => !privilegedScopes.has(scope)),
    "roles-claim": "roles",
    roles: ownRoleNames,
  };
}
