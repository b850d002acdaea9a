import type { IncomingMessage } from "node:http";
import { builtInIssuer, type Issuer, ownRoleNames } from "@signalbox/auth";
import { privilegedScopes, scopes } from "@signalbox/contracts";

/** The address of the built-in issuer, as the world sees it: every URL it answers with begins here, whoever asks and how. */
export interface IssuerAddress {
  /** The issuer's identifier. */
  readonly issuer: string;
  /** What access tokens are for: the whole deployment. */
  readonly audience: string;
  /** The path of the issuer behind the edge, such as `/oauth`. */
  readonly path: string;
  /** The path below the issuer that a request asks for. Its metadata are asked for outside of it, too (RFC 8414 §3.1). */
  below(path: string): string;
  /** Makes a request look as if it had been sent to this address. */
  force(request: IncomingMessage): void;
}

/** The prefix under which this service is asked; a path of `http.base-url` stands before it outside. */
export const mountPath = "/oauth";

/** The prefix of the metadata of every issuer on a host; what follows is the issuer's path. */
export const metadataPrefix = "/.well-known/oauth-authorization-server";

export function issuerAddress(baseUrl: string): IssuerAddress {
  const { host, protocol, pathname } = new URL(baseUrl);
  const scheme = protocol.slice(0, -1);
  const path = `${pathname.replace(/\/$/, "")}${mountPath}`;
  // An edge may have taken the path of the deployment away.
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
 * Describes the built-in issuer to the verifier of tokens. Its scopes were weighed against roles and clients when the
 * token was made, so none needs to be held back.
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
