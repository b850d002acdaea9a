import { createHmac } from "node:crypto";

export type TokenClaims = Readonly<Record<string, unknown>>;
export type TokenHeader = Readonly<Record<string, unknown>>;

/** A token in the compact serialization (RFC 7515 §7.1). It is encoded as told, also when that makes no sense. */
export function encodeToken(header: TokenHeader, claims: TokenClaims, sign: (text: string) => Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign(text).toString("base64url")}`;
}

/** Signs with a shared secret, HS256. */
export function signHmac(secret: string): (text: string) => Buffer {
  return (text) => createHmac("sha256", secret).update(text).digest();
}
