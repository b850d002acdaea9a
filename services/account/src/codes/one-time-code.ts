import { createHmac, hkdfSync, randomInt } from "node:crypto";
import { hours, minutes } from "@signalbox/core";

/** A code works for one purpose only. */
export type CodePurpose = "contact" | "step-up" | "sign-in";

/** The purpose and subject of a code. Its digest covers both. */
export interface CodePlace {
  readonly purpose: CodePurpose;
  /** An account, a credential, or the normalized address of a person who signs in. */
  readonly subject: string;
}

export const lifeMs: Readonly<Record<CodePurpose, number>> = {
  contact: hours(1),
  "step-up": minutes(10),
  "sign-in": minutes(10),
};
export const triesMax = 5;
export const issuesMaxPerHour = 5;

const digits = 8;

/**
 * Creates eight digits. With five tries per code and five codes an hour, two in a thousand who guess all year succeed.
 */
export function newCode(): string {
  return String(randomInt(10 ** digits)).padStart(digits, "0");
}

/** Drops spaces and hyphens that people type or paste, and reads the wide digits of Japanese keyboards as digits. */
export const typedCode = (text: string): string => text.normalize("NFKC").replace(/[\s\p{Dash}]/gu, "");

/**
 * Digests a code. The digest is keyed, because all possible codes can be tried in seconds; `sealingKey` is one of
 * `secrets.keys`.
 */
export function digestCode(sealingKey: string, { purpose, subject }: CodePlace, code: string): Buffer {
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account one-time codes", 32));
  return createHmac("sha256", key)
    .update(JSON.stringify([purpose, subject, code]))
    .digest();
}
