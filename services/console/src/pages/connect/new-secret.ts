import type { WebhookPresetInFull } from "@signalbox/client";

type SignedAs = Pick<WebhookPresetInFull, "scheme" | "settings">;

/** Makes a secret of 32 random bytes in the form of a sender; null where only the sender has one, as a public key. */
export function newSecret({ scheme, settings }: SignedAs): string | null {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const base64 = btoa(String.fromCharCode(...bytes));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (scheme === "ed25519" || scheme === "jwt") return null;
  if (scheme === "standard-webhooks") return `whsec_${base64}`;
  if (scheme === "token" && settings.token_format === "basic") return `signalbox:${hex}`;
  return settings.secret_encoding === "base64" ? base64 : hex;
}

/** True when the owner chooses the secret and enters it at the sender. */
export const isChosenByOwner = (secret: string): boolean => /\byou (?:choose|give|enter)\b/.test(secret);
