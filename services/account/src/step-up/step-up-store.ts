import type { PrincipalCredential } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { type Queryable, type Statement, sql, type Tx } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";

interface StepUp {
  readonly credentialId: string;
  readonly accountId: string;
  /** Time at which the person behind the credential proved their identity. */
  readonly at: Date;
}

const findStepUp = sql(
  "step-up.find",
  `select credential_id as "credentialId", account_id as "accountId", at from step_ups
   where credential_id = $1 and account_id = $2`,
);
const saveStepUp = sql(
  "step-up.save",
  `insert into step_ups (credential_id, account_id, at) values ($1, $2, $3)
   on conflict (credential_id) do update set account_id = excluded.account_id, at = excluded.at`,
);
const endStepUps = sql("step-up.end-all", "delete from step_ups where account_id = $1");

const mailsMaxPerHour = 5;
const triesMaxPerHour = 25;

/** Counts a use at $2 when fewer than $4 came after $3; earlier times are dropped. */
function countUse(name: string, counted: "mailed" | "tried", other: "mailed" | "tried"): Statement {
  const latest = `select at from unnest(step_up_allowances.${counted}) as at where at > $3`;
  return sql(
    name,
    `insert into step_up_allowances (account_id, ${counted}, ${other}, last_used_at)
     values ($1, array[$2::timestamptz], '{}', $2)
     on conflict (account_id) do update set ${counted} = array(${latest}) || $2::timestamptz, last_used_at = $2
     where (select count(*) from (${latest}) as uses) < $4`,
  );
}

const countMail = countUse("step-up-allowance.count-mail", "mailed", "tried");
const countTry = countUse("step-up-allowance.count-try", "tried", "mailed");

/** The key of a step-up: the token itself, so that the proof does not count for every token of that login. */
export const steppedUp = ({ id, tokenId }: PrincipalCredential): string => tokenId ?? id;

// Step-ups in PostgreSQL: the latest one of each credential. Codes and tries are limited per account, over all its
// tokens: a token's holder gets more of them by the refresh token, and could guess anew with each.

export async function stepUpOf(
  { pool }: AccountService,
  accountId: string,
  credentialId: string,
): Promise<StepUp | null> {
  return (await pool.query<StepUp>(findStepUp, [credentialId, accountId])).rows[0] ?? null;
}

export async function noteStepUp(tx: Tx, { credentialId, accountId, at }: StepUp): Promise<void> {
  await tx.query(saveStepUp, [credentialId, accountId, at]);
}

export async function endStepUpsOf(tx: Tx, accountId: string): Promise<void> {
  await tx.query(endStepUps, [accountId]);
}

/** Counts a mail. Returns false when the hourly limit is reached. */
export const takeStepUpMail = (service: AccountService, tx: Tx, accountId: string) =>
  take(service, tx, countMail, accountId, mailsMaxPerHour);

/** Counts a try. Returns false when the hourly limit is reached. */
export const takeStepUpTry = (service: AccountService, accountId: string) =>
  take(service, service.counting, countTry, accountId, triesMaxPerHour);

async function take(
  { clock }: AccountService,
  db: Queryable,
  statement: Statement,
  accountId: string,
  max: number,
): Promise<boolean> {
  const now = clock.now();
  const since = new Date(now.getTime() - hours(1));
  return (await db.query(statement, [accountId, now, since, max])).rowCount === 1;
}
