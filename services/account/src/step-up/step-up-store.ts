import type { PrincipalCredential } from "@signalbox/auth";
import { type Pool, sql, type Tx } from "@signalbox/storage";

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

/** The key of a step-up: the token itself, so that the proof does not count for every token of that login. */
export const steppedUp = ({ id, tokenId }: PrincipalCredential): string => tokenId ?? id;

export type StepUpStore = ReturnType<typeof createStepUpStore>;

/** Step-ups in PostgreSQL: the latest one of each credential. */
export function createStepUpStore(pool: Pool) {
  return {
    async find(accountId: string, credentialId: string): Promise<StepUp | null> {
      return (await pool.query<StepUp>(findStepUp, [credentialId, accountId])).rows[0] ?? null;
    },
    async save(tx: Tx, { credentialId, accountId, at }: StepUp): Promise<void> {
      await tx.query(saveStepUp, [credentialId, accountId, at]);
    },
    async endAll(tx: Tx, accountId: string): Promise<void> {
      await tx.query(endStepUps, [accountId]);
    },
  };
}
