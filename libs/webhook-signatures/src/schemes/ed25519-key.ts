import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readBase64 } from "./digest.ts";

/** Reads `whpk_` and the 32 bytes of an Ed25519 public key in base 64; returns null for any other text. */
export function readPublicKey(text: string): KeyObject | null {
  return publicKeyOf(text.startsWith("whpk_") ? readBase64(text.slice("whpk_".length)) : null);
}

/** Returns the Ed25519 public key of 32 bytes, or null. */
export function publicKeyOf(bytes: Buffer | null): KeyObject | null {
  if (bytes?.length !== 32) return null;
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }, format: "jwk" });
}

/** Reads `whsk_` with seed and public key (64 bytes) in base 64; returns null for any other text. */
export function readPrivateKey(text: string): KeyObject | null {
  const bytes = text.startsWith("whsk_") ? readBase64(text.slice("whsk_".length)) : null;
  if (bytes?.length !== 64) return null;
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map((part) => part.toString("base64url"));
  return createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d: d as string, x: x as string }, format: "jwk" });
}
