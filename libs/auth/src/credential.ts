import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError, KiB } from "@signalbox/core";

/** The credential that a caller presents. `value` is the token or key itself: it never reaches a log. */
export interface PresentedCredential {
  /** `bearer` and `basic` are forms of `Authorization` (for Basic the password counts), `api-key` is `X-API-Key`. */
  readonly kind: "bearer" | "api-key" | "basic";
  readonly value: string;
}

/** Longer than any token that we issue or accept, shorter than the limit of the header parser. */
export const credentialBytesMax = 8 * KiB;

/**
 * Reads the credential of a request; null when there is none. Throws `invalid_request` for two credentials, because
 * guessing the intended one hides a mistake, and `unauthorized` for a malformed one.
 */
export function credentialFrom(headers: IncomingHttpHeaders): PresentedCredential | null {
  const apiKey = headers["x-api-key"];
  const authorization = headers.authorization;
  if (apiKey !== undefined && authorization !== undefined) {
    throw new AppError("invalid_request", "Send one credential: either Authorization or X-API-Key.");
  }
  if (apiKey !== undefined) return checked("api-key", String(apiKey));
  if (authorization === undefined) return null;
  return fromAuthorization(authorization);
}

/**
 * Returns the name of a credential in caches: SHA-256, so that no memory dump shows the credential. The digest includes
 * the kind, because a credential valid as one kind may be invalid as another.
 */
export function digestCredential({ kind, value }: PresentedCredential): string {
  return hash("sha256", `${kind} ${value}`, "base64url");
}

function fromAuthorization(authorization: string): PresentedCredential {
  const [, scheme, parameters] = /^([A-Za-z]+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme === undefined || parameters === undefined) throw unreadable();
  switch (scheme.toLowerCase()) {
    case "bearer":
      return checked("bearer", parameters);
    case "basic":
      return checked("basic", passwordOf(parameters));
    default:
      throw unreadable();
  }
}

/** RFC 7617: base64 of `user:password`. The user name is ignored. */
function passwordOf(parameters: string): string {
  const decoded = Buffer.from(parameters, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  if (colon < 0) throw unreadable();
  return decoded.slice(colon + 1);
}

function checked(kind: PresentedCredential["kind"], value: string): PresentedCredential {
  if (value.length === 0 || value.length > credentialBytesMax || !/^[\x21-\x7e]+$/.test(value)) throw unreadable();
  return { kind, value };
}

const unreadable = () => new AppError("unauthorized", "The credential is malformed.");
