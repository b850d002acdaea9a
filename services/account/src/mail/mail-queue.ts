import { type Queryable, type SealedColumn, type SealedPlace, type Sealer, sql, type Tx } from "@signalbox/storage";
import type { Mail } from "./mail-transport.ts";
import type { MailKind } from "./write-mail.ts";

interface NewMail extends Mail {
  readonly accountId: string | null;
  readonly kind: MailKind;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A mail that this instance has leased. */
export interface QueuedMail {
  readonly id: string;
  readonly kind: string;
  /** Address, subject and text, sealed: they hold a code or a link. */
  readonly sealed: string;
  /** Attempts started, including this one. */
  readonly attempts: number;
}

// The database's clock decides when a mail is due: it is the same for all instances.
const insertMail = sql(
  "mail.insert",
  `insert into outgoing_mails (id, account_id, kind, sealed, attempts, due_at, created_at, expires_at)
   values ($1, $2, $3, $4, 0, statement_timestamp(), $5, $6)`,
);
const leaseMails = sql(
  "mail.lease",
  `update outgoing_mails set due_at = statement_timestamp() + $1 * interval '1 ms', attempts = attempts + 1
   where id in (
     select id from outgoing_mails where due_at <= statement_timestamp() and expires_at > statement_timestamp()
     order by due_at limit $2 for update skip locked)
   returning id, kind, sealed, attempts`,
);

const deleteMail = sql("mail.delete", "delete from outgoing_mails where id = $1");
/** Only the last attempt sets the next one: an earlier attempt may have outlived its lease. */
const postponeMail = sql(
  "mail.postpone",
  "update outgoing_mails set due_at = statement_timestamp() + $3 * interval '1 ms' where id = $1 and attempts = $2",
);
const deleteOutdated = sql(
  "mail.delete-outdated",
  "delete from outgoing_mails where expires_at <= statement_timestamp() returning id, kind, sealed, attempts",
);
const oldestMail = sql(
  "mail.oldest",
  "select coalesce(extract(epoch from statement_timestamp() - min(created_at)), 0)::float8 as seconds from outgoing_mails",
);

/** Queues a mail: its row is leased to one instance at a time. */
export async function insertQueuedMail(tx: Tx, sealer: Sealer, mail: NewMail): Promise<void> {
  const { id, to, subject, text, accountId, kind, createdAt, expiresAt } = mail;
  const sealed = sealer.seal(JSON.stringify({ to, subject, text }), placeOf(id));
  await tx.query(insertMail, [id, accountId, kind, sealed, createdAt, expiresAt]);
}

/** Leases up to `count` mails that are due. After `leaseMs` another instance may take them. */
export async function leaseDueMails(db: Queryable, count: number, leaseMs: number): Promise<readonly QueuedMail[]> {
  return (await db.query<QueuedMail>(leaseMails, [leaseMs, count])).rows;
}

/** @throws SealError when the sealing key is gone. */
export function openQueuedMail({ id, sealed }: QueuedMail, sealer: Sealer): Mail {
  const { to, subject, text } = JSON.parse(sealer.open(sealed, placeOf(id)).toString());
  return { id, to, subject, text };
}

export async function removeMail(db: Queryable, { id }: QueuedMail): Promise<void> {
  await db.query(deleteMail, [id]);
}

export async function postponeQueuedMail(db: Queryable, { id, attempts }: QueuedMail, byMs: number): Promise<void> {
  await db.query(postponeMail, [id, attempts, byMs]);
}

/** Removes the mails whose code or link has expired, and returns them. */
export async function removeOutdatedMails(db: Queryable): Promise<readonly QueuedMail[]> {
  return (await db.query<QueuedMail>(deleteOutdated)).rows;
}

/** Returns the age of the oldest unsent mail in seconds; 0 when the queue is empty. */
export async function oldestMailSeconds(db: Queryable): Promise<number> {
  return (await db.query<{ seconds: number }>(oldestMail)).rows[0]?.seconds ?? 0;
}

export const sealedMails: SealedColumn = {
  table: "outgoing_mails",
  column: "sealed",
  key: ["id"],
  place: ([id]) => placeOf(String(id)),
};

const placeOf = (row: string): SealedPlace => ({ service: "account", table: "outgoing_mails", row });
