import { draft, type EventData } from "@signalbox/contracts";
import { minutes, seconds } from "@signalbox/core";
import { inTransaction, sql, type Tx } from "@signalbox/storage";
import { type CredentialUse, type Refusal, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { browserNameOf } from "./sign-in.ts";

/** Upserts, so that a minute of guesses at an account is one row for each reason. */
const countRefusal = sql(
  "sign-in-refusal.count",
  `insert into sign_in_refusals as known (account_id, reason, minute, application, address, count)
   values ($1, $2, $3, $4, $5, 1)
   on conflict (account_id, reason, minute) do update set
     count = known.count + 1, application = excluded.application, address = excluded.address`,
);
const takeDue = sql(
  "sign-in-refusal.take-due",
  `delete from sign_in_refusals where (account_id, reason, minute) in (
     select account_id, reason, minute from sign_in_refusals where minute <= $1
     order by minute limit $2 for update skip locked)
   returning account_id as "accountId", reason, minute, application, address, count`,
);
const batch = 500;

interface CountedRefusals {
  readonly accountId: string;
  readonly reason: string;
  readonly minute: Date;
  readonly application: string;
  readonly address: string | null;
  readonly count: number;
}

export interface SuccessfulSignIn {
  readonly accountId: string;
  readonly method: "code" | "passkey" | "recovery_code" | "identity_provider";
  readonly userAgent: string | undefined;
  /** Application, client address and request. */
  readonly by: CredentialUse;
}

// The sign-ins of people, told to the audit and to the account's endpoints in the transaction that made them true.

/** Records that a person has signed in. */
export async function recordSignIn(
  service: AccountService,
  tx: Tx,
  { accountId, method, userAgent, by }: SuccessfulSignIn,
): Promise<void> {
  await recordInAudit(service, tx, { kind: "owner", accountId, ...by }, { action: "sign_in", accountId });
  const { credential: application, address } = by;
  const browser = browserNameOf(userAgent);
  const data = { account_id: accountId, method, application, address, browser, changed: [] };
  await service.outbox.append(tx, [draft("sign_in.succeeded", { subject: accountId, accountId, data })]);
}

/** Appends the end of one sign-in, or of several. */
export async function recordEnd(
  { outbox }: AccountService,
  tx: Tx,
  accountId: string,
  end: Pick<EventData<"sign_in.ended">, "ended" | "sign_in_id">,
): Promise<void> {
  const data = { account_id: accountId, ...end, changed: [] };
  await outbox.append(tx, [draft("sign_in.ended", { subject: accountId, accountId, data })]);
}

/** Counts a refused sign-in for its event, and writes it into the audit. It counts even when a transaction rolls back. */
export async function recordRefusal(
  { auditRefusals, counting, clock }: AccountService,
  refusal: Omit<Refusal, "operation">,
): Promise<void> {
  auditRefusals.record({ ...refusal, operation: "sign_in" });
  const { accountId, reason, by } = refusal;
  const now = clock.nowMs();
  const minute = new Date(now - (now % minutes(1)));
  await counting.query(countRefusal, [accountId, reason, minute, by.credential, by.address]);
}

/** Publishes the refusals of the minutes that are over. */
export async function publishRefusals({ pool, outbox, clock }: AccountService): Promise<void> {
  const before = new Date(clock.nowMs() - minutes(1) - seconds(5));
  for (let taken = batch; taken === batch; ) {
    taken = await inTransaction(pool, async (tx) => {
      const { rows } = await tx.query<CountedRefusals>(takeDue, [before, batch]);
      await outbox.append(tx, rows.map(refusedEvent));
      return rows.length;
    });
  }
}

function refusedEvent({ accountId, minute, ...refusals }: CountedRefusals) {
  const data = { account_id: accountId, ...refusals, minute: minute.toISOString(), changed: [] };
  return draft("sign_in.refused", { subject: accountId, accountId, data });
}
