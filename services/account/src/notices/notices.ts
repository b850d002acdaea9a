import { hours } from "@signalbox/core";
import { type RetentionRule, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { envelopeOf } from "../mail/mails.ts";
import type { MailContent, NoticeKind } from "../mail/write-mail.ts";

export type Notice = Extract<MailContent, { readonly kind: NoticeKind }>;

/** The part of an account that a notice needs. */
type NoticeAccount = Pick<Account, "id" | "contactAddress" | "contactAddressVerified" | "locale" | "timezone">;

/** Per kind and account: a program that creates keys all day must not fill a mailbox. */
const noticesMaxPerHour = 20;
/** A notice stays useful for days, and a mail server may be down for as long. */
const usefulMs = hours(72);

const countNotice = sql(
  "notice.count",
  `insert into notice_counts as known (account_id, kind, since, count) values ($1, $2, $3, 1)
   on conflict (account_id, kind) do update set
     since = case when known.since <= $4 then excluded.since else known.since end,
     count = case when known.since <= $4 then 1 else known.count + 1 end
   where known.since <= $4 or known.count < $5`,
);

// Notifies owners of changes that give access to their account or take it away. Only verified addresses get notices:
// any other may be a stranger's.

/**
 * Queues a notice in the transaction of the change. After twenty an hour of one kind only the audit has the change.
 */
export async function queueNotice(
  { clock, mails }: AccountService,
  tx: Tx,
  account: NoticeAccount,
  notice: Notice,
): Promise<void> {
  const { id: accountId, contactAddress: to, contactAddressVerified } = account;
  if (to === null || !contactAddressVerified) return;
  const now = clock.now();
  const hourAgo = new Date(now.getTime() - hours(1));
  const counted = await tx.query(countNotice, [accountId, notice.kind, now, hourAgo, noticesMaxPerHour]);
  if (counted.rowCount === 0) return;
  const expiresAt = new Date(now.getTime() + usefulMs);
  await mails.enqueue(tx, { ...envelopeOf(account, to, expiresAt), ...notice });
}

/** The client address of a request as a mail shows it. */
export const shownAddress = ({ clientAddress }: { readonly clientAddress: string | null }): string =>
  clientAddress ?? "–";

export const noticeRetention: RetentionRule = {
  name: "notice count retention",
  table: "notice_counts",
  column: "since",
  keepMs: hours(1),
};
