import type { IncomingHttpHeaders } from "node:http";
import { type Caller, type Principal, requireAdmitted } from "@signalbox/auth";
import { AppError } from "@signalbox/core";

/**
 * The header by which the gateway passes the verified principal to a subgraph. A subgraph trusts it because its
 * internal listener answers only to the internal token; the public listeners never read it.
 */
export const principalHeader = "x-signalbox-principal";

/** The client's address at the gateway, for the audit. Trusted for the same reason. */
export const clientAddressHeader = "x-signalbox-client-address";

/** Encodes the principal as a header value: base64url of JSON, because header values are not UTF-8 safe. */
export function encodePrincipal(principal: Principal): string {
  const json = JSON.stringify({
    ...principal,
    scopes: [...principal.scopes],
    expiresAt: principal.expiresAt?.toISOString() ?? null,
  });
  return Buffer.from(json).toString("base64url");
}

/** Decodes the output of `encodePrincipal`; null when the caller is anonymous. */
export function decodePrincipal(header: string | string[] | undefined): Principal | null {
  if (header === undefined) return null;
  try {
    const read = JSON.parse(Buffer.from(String(header), "base64url").toString("utf8"));
    return {
      ...read,
      scopes: new Set(read.scopes),
      expiresAt: read.expiresAt === null ? null : new Date(read.expiresAt),
    };
  } catch (cause) {
    throw new AppError("unauthorized", "The forwarded principal is unreadable.", { cause });
  }
}

/**
 * Returns the caller that the gateway passes to an internal route, with the request.
 * @throws AppError `unauthorized` for a request without one
 */
export function forwardedCaller(headers: IncomingHttpHeaders): Caller {
  const principal = decodePrincipal(headers[principalHeader]);
  if (principal === null) throw new AppError("unauthorized", "Send credentials.");
  requireAdmitted(principal);
  const clientAddress = headers[clientAddressHeader]?.toString() ?? null;
  return { ...principal, requestId: String(headers["x-request-id"] ?? ""), clientAddress };
}

/** An `Idempotency-Key` with its operation, on its way from the gateway to a subgraph. */
export interface OperationKey {
  readonly key: string;
  /** The identity of an operation: a digest of the document, its variables and its name. */
  readonly fingerprint: Buffer;
  /** False when this subgraph has already run another part of the same operation. */
  readonly isFirst: boolean;
}

/** Trusted like the principal, because subgraphs are on the internal listener only. */
export const operationKeyHeader = "x-signalbox-operation-key";

export function encodeOperationKey({ key, fingerprint, isFirst }: OperationKey): string {
  return `${isFirst ? "first" : "later"} ${fingerprint.toString("hex")} ${key}`;
}

/** Decodes the output of `encodeOperationKey`; null when the client sent no key. */
export function decodeOperationKey(header: string | string[] | undefined): OperationKey | null {
  if (header === undefined) return null;
  const [, place, fingerprint, key] = /^(first|later) ([\da-f]+) ([\x21-\x7e]+)$/.exec(String(header)) ?? [];
  if (!fingerprint || !key) throw new AppError("invalid_request", "The forwarded Idempotency-Key is unreadable.");
  return { key, fingerprint: Buffer.from(fingerprint, "hex"), isFirst: place === "first" };
}
