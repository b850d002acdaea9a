import { type Pool, type SealedColumn, type SealedPlace, type Sealer, sql, type Tx, table } from "@signalbox/storage";
import type { Mail } from "./mail.ts";
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
  /** Attempts begun, this one included. */
  readonly attempts: number;
}

const mails = table("outgoing_mails", {
  id: "uuid",
  accountId: "text",
  kind: "text",
  sealed: "text",
  attempts: "int4",
  dueAt: "timestamptz",
  createdAt: "timestamptz",
  expiresAt: "timestamptz",
});

const leaseMails = sql(
  "mail.lease",
  `update outgoing_mails set due_at = $2, attempts = attempts + 1
   where id in (
     select id from outgoing_mails where due_at <= $1 and expires_at > $1
     order by due_at limit $3 for update skip locked)
   returning id, kind, sealed, attempts`,
);

const deleteMail = sql("mail.delete", "delete from outgoing_mails where id = $1");
/** Only the last attempt may say when the next one is: an earlier one may have outlived its lease. */
const postponeMail = sql("mail.postpone", "update outgoing_mails set due_at = $3 where id = $1 and attempts = $2");
const deleteOutdated = sql(
  "mail.delete-outdated",
  "delete from outgoing_mails where expires_at <= $1 returning id, kind, sealed, attempts",
);
const oldestMail = sql("mail.oldest", "select min(created_at) as at from outgoing_mails");

/** Mails that wait to be sent: rows of PostgreSQL, leased to one instance at a time. */
export function createMailQueue(pool: Pool, sealer: Sealer) {
  return {
    async insert(tx: Tx, mail: NewMail): Promise<void> {
      const { to, subject, text, ...row } = mail;
      const sealed = sealer.seal(JSON.stringify({ to, subject, text }), placeOf(mail.id));
      await mails.insert(tx, { ...row, sealed, attempts: 0, dueAt: mail.createdAt });
    },
    /** Leases up to `count` mails that are due at `at`. After `until` another instance may take them. */
    async lease(count: number, at: Date, until: Date): Promise<readonly QueuedMail[]> {
      return (await pool.query<QueuedMail>(leaseMails, [at, until, count])).rows;
    },
    /** @throws SealError when the key that sealed it is gone. */
    open({ id, sealed }: QueuedMail): Mail {
      const { to, subject, text } = JSON.parse(sealer.open(sealed, placeOf(id)).toString());
      return { id, to, subject, text };
    },
    async remove({ id }: QueuedMail): Promise<void> {
      await pool.query(deleteMail, [id]);
    },
    async postpone({ id, attempts }: QueuedMail, dueAt: Date): Promise<void> {
      await pool.query(postponeMail, [id, attempts, dueAt]);
    },
    /** Removes the mails whose code or link has expired, and returns them. */
    async removeOutdated(at: Date): Promise<readonly QueuedMail[]> {
      return (await pool.query<QueuedMail>(deleteOutdated, [at])).rows;
    },
    /** Finds when the oldest unsent mail was queued; null when all are sent. */
    async oldest(): Promise<Date | null> {
      return (await pool.query<{ at: Date | null }>(oldestMail)).rows[0]?.at ?? null;
    },
  };
}

export type MailQueue = ReturnType<typeof createMailQueue>;

/** What the mails on their way say. */
export const sealedMails: SealedColumn = {
  table: "outgoing_mails",
  column: "sealed",
  key: ["id"],
  place: ([id]) => placeOf(String(id)),
};

const placeOf = (row: string): SealedPlace => ({ service: "account", table: "outgoing_mails", row });
