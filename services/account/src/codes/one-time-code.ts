import { createHmac, hkdfSync, randomInt } from "node:crypto";
import { hours, minutes } from "@signalbox/core";

/** What a code is good for. One of another purpose is of no use. */
export type CodePurpose = "contact" | "step-up" | "sign-in";

/** What a code was made for, which its digest covers. */
export interface CodePlace {
  readonly purpose: CodePurpose;
  /** Who it is for: an account, a credential, or the normalized address of somebody who signs in. */
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

/** Eight digits: with five tries each and five codes an hour, who guesses all year succeeds twice in a thousand times. */
export function newCode(): string {
  return String(randomInt(10 ** digits)).padStart(digits, "0");
}

/** People type codes as they read them, with blanks and hyphens. */
export const typedCode = (text: string): string => text.replace(/[\s-]/g, "");

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
