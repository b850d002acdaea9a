import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readBase64 } from "./digest.ts";

/** Reads `whpk_` and the 32 bytes of an Ed25519 public key in base 64, or null. */
export function readPublicKey(text: string): KeyObject | null {
  const bytes = text.startsWith("whpk_") ? readBase64(text.slice("whpk_".length)) : null;
  if (bytes?.length !== 32) return null;
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }, format: "jwk" });
}

/** Reads `whsk_` and the seed, usually followed by the public key (64 bytes), in base 64, or null. */
export function readPrivateKey(text: string): KeyObject | null {
  const bytes = text.startsWith("whsk_") ? readBase64(text.slice("whsk_".length)) : null;
  if (bytes?.length !== 64) return null;
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map((part) => part.toString("base64url"));
  return createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d: d as string, x: x as string }, format: "jwk" });
}

/** Makes a key pair in the written form of Standard Webhooks. */
export function createSigningKey(): { privateKey: string; publicKey: string } {
  const { d, x } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const seed = Buffer.from(d as string, "base64url");
  const open = Buffer.from(x as string, "base64url");
  return {
    privateKey: `whsk_${Buffer.concat([seed, open]).toString("base64")}`,
    publicKey: `whpk_${open.toString("base64")}`,
  };
}
