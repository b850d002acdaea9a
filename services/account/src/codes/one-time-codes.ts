import { createHmac, hkdfSync, randomInt, timingSafeEqual } from "node:crypto";
import { hours, minutes } from "@signalbox/core";
import { sql, type Tx } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";

/** A code works for one purpose only. */
export type CodePurpose = "contact" | "step-up" | "sign-in";

/** The purpose and subject of a code. Its digest covers both. */
export interface CodePlace {
  readonly purpose: CodePurpose;
  /** An account, a credential, or the normalized address of a person who signs in. */
  readonly subject: string;
}

export type RedeemOutcome = "good" | "wrong" | "expired" | "used-up";

export const lifeMs: Readonly<Record<CodePurpose, number>> = {
  contact: hours(1),
  "step-up": minutes(10),
  "sign-in": minutes(10),
};
const triesMax = 5;
const issuesMaxPerHour = 5;
const digits = 8;

const saveCode = sql(
  "code.save",
  `insert into one_time_codes (purpose, subject, account_id, digest, issued, expires_at, tries)
   values ($1, $2, $3, $4, array[$5::timestamptz], $6, 0)
   on conflict (purpose, subject) do update set account_id = excluded.account_id, digest = excluded.digest,
     issued = array(select at from unnest(one_time_codes.issued) as at where at > $7) || $5::timestamptz,
     expires_at = excluded.expires_at, tries = 0, used_at = null
   where (select count(*) from unnest(one_time_codes.issued) as at where at > $7) < $8`,
);

const countTry = sql(
  "code.count-try",
  `update one_time_codes set tries = tries + 1
   where purpose = $1 and subject = $2 and used_at is null and expires_at > $3 and tries < $4 returning digest`,
);

const findCode = sql(
  "code.find",
  `select used_at as "usedAt", expires_at as "expiresAt" from one_time_codes where purpose = $1 and subject = $2`,
);

/** Marks only the code that was tried: a newer one may have replaced it. */
const markUsed = sql(
  "code.mark-used",
  `update one_time_codes set used_at = $4 where purpose = $1 and subject = $2 and digest = $3 and used_at is null`,
);

const endOne = sql(
  "code.end",
  "update one_time_codes set used_at = $3 where purpose = $1 and subject = $2 and used_at is null",
);

const endAll = sql("code.end-all", "update one_time_codes set used_at = $2 where account_id = $1 and used_at is null");

// One-time codes that are mailed: one row per purpose and subject. Stored are a keyed digest, the number of tries, and
// the times of the latest codes.

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
  const since = new Date(issuedAt.getTime() - hours(1));
  const { purpose, subject, accountId } = place;
  const values = [purpose, subject, accountId, digest, issuedAt, expiresAt, since, issuesMaxPerHour];
  return (await tx.query(saveCode, values)).rowCount === 1 ? { code, expiresAt } : "too-many";
}

/** Redeems a code, once. A try counts even when `tx` rolls back. */
export async function redeemCode(
  { clock, counting, configuration }: AccountService,
  tx: Tx,
  { code, ...place }: CodePlace & { readonly code: string },
): Promise<RedeemOutcome> {
  const now = clock.now();
  const key = [place.purpose, place.subject];
  const [tried] = (await counting.query<{ digest: Buffer }>(countTry, [...key, now, triesMax])).rows;
  if (!tried) return whyNot((await tx.query<CodeEnd>(findCode, key)).rows[0], now);
  const given = configuration.get("secrets.keys").map((key) => digestCode(key, place, typedCode(code)));
  if (!given.some((digest) => timingSafeEqual(digest, tried.digest))) return "wrong";
  return (await tx.query(markUsed, [...key, tried.digest, now])).rowCount === 1 ? "good" : "used-up";
}

/** Ends the code of a purpose and subject: its aim was reached in another way, or was given up. */
export async function endCode({ clock }: AccountService, tx: Tx, { purpose, subject }: CodePlace): Promise<void> {
  await tx.query(endOne, [purpose, subject, clock.now()]);
}

export async function endCodes({ clock }: AccountService, tx: Tx, accountId: string): Promise<void> {
  await tx.query(endAll, [accountId, clock.now()]);
}

/** The times at which a code ended, and expires. */
interface CodeEnd {
  readonly usedAt: Date | null;
  readonly expiresAt: Date;
}

/** Without a stored code every code is wrong. */
function whyNot(code: CodeEnd | undefined, now: Date): RedeemOutcome {
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
