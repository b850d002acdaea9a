import { createHmac, hkdfSync, randomInt } from "node:crypto";
import { hours, minutes } from "@signalbox/core";

/** A code works for its own purpose and for no other. */
export type CodePurpose = "contact" | "step-up" | "sign-in";

/** The one place where a code works. Its digest covers both. */
export interface CodePlace {
  readonly purpose: CodePurpose;
  /** An account, a credential, or the normalized address of somebody who signs in. */
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

/** Makes eight digits. With five tries each and five codes an hour, two in a thousand who guess all year succeed. */
export function newCode(): string {
  return String(randomInt(10 ** digits)).padStart(digits, "0");
}

/** Drops the blanks and hyphens that people type or paste, and takes the wide digits of Japanese keyboards for digits. */
export const typedCode = (text: string): string => text.normalize("NFKC").replace(/[\s\p{Dash}]/gu, "");

/**
 * The digest that stands for a code. Keyed, because all codes there are can be tried in seconds; `sealingKey` is one of
 * `secrets.keys`.
 */
export function digestCode(sealingKey: string, { purpose, subject }: CodePlace, code: string): Buffer {
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account one-time codes", 32));
  return createHmac("sha256", key)
    .update(JSON.stringify([purpose, subject, code]))
    .digest();
}
