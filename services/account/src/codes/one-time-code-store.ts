import { type Queryable, sql, type Tx } from "@signalbox/storage";

/** A code works for one purpose only. */
export type CodePurpose = "contact" | "step-up" | "sign-in";

/** The purpose and subject of a code. Its digest covers both. */
export interface CodePlace {
  readonly purpose: CodePurpose;
  /** An account, a credential, or the normalized address of a person who signs in. */
  readonly subject: string;
}

interface NewCode extends CodePlace {
  readonly accountId: string | null;
  readonly digest: Buffer;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Time at which a code ended, or expires. */
interface CodeEnd {
  readonly usedAt: Date | null;
  readonly expiresAt: Date;
}

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

const endCode = sql(
  "code.end",
  "update one_time_codes set used_at = $3 where purpose = $1 and subject = $2 and used_at is null",
);

const endCodes = sql(
  "code.end-all",
  "update one_time_codes set used_at = $2 where account_id = $1 and used_at is null",
);

// Codes in PostgreSQL: one row per purpose and subject, with the times of the latest codes. The pool `counting`
// counts tries.

/** Stores a code in place of an older one. Returns false when `max` were created since `since`. */
export async function storeCode(
  tx: Tx,
  code: NewCode,
  { max, since }: { readonly max: number; readonly since: Date },
): Promise<boolean> {
  const { purpose, subject, accountId, digest, issuedAt, expiresAt } = code;
  const values = [purpose, subject, accountId, digest, issuedAt, expiresAt, since, max];
  return (await tx.query(saveCode, values)).rowCount === 1;
}

/** Counts a try and returns the digest of the code; null when no try is left. */
export async function takeTry(
  db: Queryable,
  { purpose, subject }: CodePlace,
  triesMax: number,
  now: Date,
): Promise<Buffer | null> {
  const { rows } = await db.query<{ digest: Buffer }>(countTry, [purpose, subject, now, triesMax]);
  return rows[0]?.digest ?? null;
}

export async function endOfCode(tx: Tx, { purpose, subject }: CodePlace): Promise<CodeEnd | null> {
  const { rows } = await tx.query<CodeEnd>(findCode, [purpose, subject]);
  return rows[0] ?? null;
}

/** Marks the code with this digest as used. Returns false when it was already used or replaced. */
export async function markCodeUsed(
  tx: Tx,
  { purpose, subject }: CodePlace,
  digest: Buffer,
  at: Date,
): Promise<boolean> {
  return (await tx.query(markUsed, [purpose, subject, digest, at])).rowCount === 1;
}

export async function endOneCode(tx: Tx, { purpose, subject }: CodePlace, at: Date): Promise<void> {
  await tx.query(endCode, [purpose, subject, at]);
}

export async function endCodesOfAccount(tx: Tx, accountId: string, at: Date): Promise<void> {
  await tx.query(endCodes, [accountId, at]);
}
