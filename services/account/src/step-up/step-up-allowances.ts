import { type Clock, hours } from "@signalbox/core";
import { type Queryable, type Statement, sql } from "@signalbox/storage";

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

export type StepUpAllowances = ReturnType<typeof createStepUpAllowances>;

/**
 * Limits of codes and tries per account, over all its tokens: a token's holder gets more of them by the refresh token,
 * and could guess anew with each.
 */
export function createStepUpAllowances({ clock }: { readonly clock: Clock }) {
  return {
    /** Counts a mail. Returns false when the hourly limit is reached. */
    takeMail: (db: Queryable, accountId: string) => take(db, countMail, accountId, mailsMaxPerHour),
    /** Counts a try. Returns false when the hourly limit is reached. */
    takeTry: (db: Queryable, accountId: string) => take(db, countTry, accountId, triesMaxPerHour),
  };

  async function take(db: Queryable, statement: Statement, accountId: string, max: number): Promise<boolean> {
    const now = clock.now();
    const since = new Date(now.getTime() - hours(1));
    return (await db.query(statement, [accountId, now, since, max])).rowCount === 1;
  }
}
