import { createHmac, hkdfSync, randomInt, timingSafeEqual } from "node:crypto";
import { hours, minutes } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";
import {
  type CodePlace,
  type CodePurpose,
  endCodesOfAccount,
  endOfCode,
  endOneCode,
  markCodeUsed,
  storeCode,
  takeTry,
} from "./one-time-code-store.ts";

export type RedeemOutcome = "good" | "wrong" | "expired" | "used-up";

export const lifeMs: Readonly<Record<CodePurpose, number>> = {
  contact: hours(1),
  "step-up": minutes(10),
  "sign-in": minutes(10),
};
const triesMax = 5;
const issuesMaxPerHour = 5;
const digits = 8;

// One-time codes that are mailed. Stored are a keyed digest, the number of tries, and the times of creation.

/**
 * Creates a code, which ends an older one for the same purpose and subject; at most five an hour. Only the returned
 * value holds it.
 */
export async function issueCode(
  { clock, configuration }: AccountService,
  tx: Tx,
  place: CodePlace & { readonly accountId: string | null },
): Promise<{ readonly code: string; readonly expiresAt: Date } | "too-many"> {
  const code = newCode();
  const issuedAt = clock.now();
  const expiresAt = new Date(issuedAt.getTime() + lifeMs[place.purpose]);
  const digest = digestCode(configuration.get("secrets.keys")[0] ?? "", place, code);
  const limit = { max: issuesMaxPerHour, since: new Date(issuedAt.getTime() - hours(1)) };
  const saved = await storeCode(tx, { ...place, digest, issuedAt, expiresAt }, limit);
  return saved ? { code, expiresAt } : "too-many";
}

/** Redeems a code, once. A try counts even when `tx` rolls back. */
export async function redeemCode(
  { clock, counting, configuration }: AccountService,
  tx: Tx,
  { code, ...place }: CodePlace & { readonly code: string },
): Promise<RedeemOutcome> {
  const now = clock.now();
  const kept = await takeTry(counting, place, triesMax, now);
  if (!kept) return whyNot(await endOfCode(tx, place), now);
  const given = configuration.get("secrets.keys").map((key) => digestCode(key, place, typedCode(code)));
  if (!given.some((digest) => timingSafeEqual(digest, kept))) return "wrong";
  return (await markCodeUsed(tx, place, kept, now)) ? "good" : "used-up";
}

/** Ends the code of a purpose and subject: its aim was reached in another way, or was given up. */
export const endCode = ({ clock }: AccountService, tx: Tx, place: CodePlace): Promise<void> =>
  endOneCode(tx, place, clock.now());

/** Ends every code of an account. */
export const endCodes = ({ clock }: AccountService, tx: Tx, accountId: string): Promise<void> =>
  endCodesOfAccount(tx, accountId, clock.now());

/** Without a stored code every code is wrong. */
function whyNot(code: { usedAt: Date | null; expiresAt: Date } | null, now: Date): RedeemOutcome {
  if (!code) return "wrong";
  return code.usedAt === null && code.expiresAt <= now ? "expired" : "used-up";
}

/**
 * Creates eight digits. With five tries per code and five codes an hour, two in a thousand who guess all year succeed.
 */
function newCode(): string {
  return String(randomInt(10 ** digits)).padStart(digits, "0");
}

/** Drops spaces and hyphens that people type or paste, and reads the wide digits of Japanese keyboards as digits. */
const typedCode = (text: string): string => text.normalize("NFKC").replace(/[\s\p{Dash}]/gu, "");

/**
 * Digests a code. The digest is keyed, because all possible codes can be tried in seconds; `sealingKey` is one of
 * `secrets.keys`.
 */
function digestCode(sealingKey: string, { purpose, subject }: CodePlace, code: string): Buffer {
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account one-time codes", 32));
  return createHmac("sha256", key)
    .update(JSON.stringify([purpose, subject, code]))
    .digest();
}
