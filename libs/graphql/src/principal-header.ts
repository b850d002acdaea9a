import type { Principal } from "@signalbox/auth";
import { AppError } from "@signalbox/core";

/**
 * How the gateway hands the principal it has verified to a subgraph. A subgraph believes it because its internal
 * listener answers only to the internal token; the public listeners never read it.
 */
export const principalHeader = "x-signalbox-principal";

/** The address of the client that the gateway answers, for the audit. Believed for the same reason. */
export const clientAddressHeader = "x-signalbox-client-address";

/** Writes the principal as a header value: base64url of JSON, because header values are not UTF-8 safe. */
export function encodePrincipal(principal: Principal): string {
  const json = JSON.stringify({
    ...principal,
    scopes: [...principal.scopes],
    expiresAt: principal.expiresAt?.toISOString() ?? null,
  });
  return Buffer.from(json).toString("base64url");
}

/** Reads what `encodePrincipal` wrote; null when the caller is anonymous. */
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
