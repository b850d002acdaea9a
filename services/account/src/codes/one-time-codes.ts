import { timingSafeEqual } from "node:crypto";
import { type Clock, hours } from "@signalbox/core";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { type CodePlace, digestCode, issuesMaxPerHour, lifeMs, newCode, triesMax, typedCode } from "./one-time-code.ts";

export type RedeemOutcome = "good" | "wrong" | "expired" | "used-up";

export interface OneTimeCodes {
  /** Makes a code, which ends an older one of the same place; at most five an hour. The code is nowhere else. */
  issue(
    tx: Tx,
    input: CodePlace & { readonly accountId: string | null },
  ): Promise<{ readonly code: string; readonly expiresAt: Date } | "too-many">;
  /** Takes a code, once. A try counts for good, whatever becomes of `tx`. */
  redeem(tx: Tx, input: CodePlace & { readonly code: string }): Promise<RedeemOutcome>;
  /** Ends the code of a place: what it was for has happened in another way, or shall not happen. */
  end(tx: Tx, place: CodePlace): Promise<void>;
  /** Ends every code of an account. */
  endAll(tx: Tx, accountId: string): Promise<void>;
}

interface Dependencies {
  /** `secrets.keys`: the first one digests, all are tried. */
  readonly keys: readonly string[];
  /**
   * Where tries are counted: outside of the caller's transaction, and not by connections that such transactions wait
   * for, or enough of them at once would wait for each other.
   */
  readonly counting: Queryable;
  readonly clock: Clock;
}

const issueCode = sql(
  "code.issue",
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

const readCode = sql(
  "code.read",
  `select used_at as "usedAt", expires_at as "expiresAt" from one_time_codes where purpose = $1 and subject = $2`,
);

/** Only the code that was tried: a newer one may have taken its place since. */
const useCode = sql(
  "code.use",
  `update one_time_codes set used_at = $4 where purpose = $1 and subject = $2 and digest = $3 and used_at is null`,
);

const endCode = sql(
  "code.end",
  "update one_time_codes set used_at = $3 where purpose = $1 and subject = $2 and used_at is null",
);

const endCodes = sql(
  "code.end-all",
  "update one_time_codes set used_at = $2 where account_id = $1 and used_at is null",
);

/** Short codes that reach a person by mail. What is kept is a keyed digest, the number of tries, and when they were made. */
export function createOneTimeCodes({ keys, counting, clock }: Dependencies): OneTimeCodes {
  const [writing = ""] = keys;

  return {
    async issue(tx, { purpose, subject, accountId }) {
      const now = clock.now();
      const code = newCode();
      const expiresAt = new Date(now.getTime() + lifeMs[purpose]);
      const hourAgo = new Date(now.getTime() - hours(1));
      const digest = digestCode(writing, { purpose, subject }, code);
      const values = [purpose, subject, accountId, digest, now, expiresAt, hourAgo, issuesMaxPerHour];
      const { rowCount } = await tx.query(issueCode, values);
      return rowCount === 1 ? { code, expiresAt } : "too-many";
    },

    async redeem(tx, { purpose, subject, code }) {
      const now = clock.now();
      const counted = await counting.query<{ digest: Buffer }>(countTry, [purpose, subject, now, triesMax]);
      const kept = counted.rows[0]?.digest;
      if (!kept) return whyNot(tx, { purpose, subject }, now);
      const given = keys.map((key) => digestCode(key, { purpose, subject }, typedCode(code)));
      if (!given.some((digest) => timingSafeEqual(digest, kept))) return "wrong";
      const { rowCount } = await tx.query(useCode, [purpose, subject, kept, now]);
      return rowCount === 1 ? "good" : "used-up";
    },

    async end(tx, { purpose, subject }) {
      await tx.query(endCode, [purpose, subject, clock.now()]);
    },

    async endAll(tx, accountId) {
      await tx.query(endCodes, [accountId, clock.now()]);
    },
  };
}

/** Where there never was a code, any is wrong. */
async function whyNot(tx: Tx, { purpose, subject }: CodePlace, now: Date): Promise<RedeemOutcome> {
  const { rows } = await tx.query<{ usedAt: Date | null; expiresAt: Date }>(readCode, [purpose, subject]);
  const [code] = rows;
  if (!code) return "wrong";
  return code.usedAt === null && code.expiresAt <= now ? "expired" : "used-up";
}
