import { type Clock, uuidv7 } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { type MailContent, writeMail } from "./mail.ts";
import type { MailQueue } from "./mail-queue.ts";

interface Envelope {
  /** An address that passed `checkContactAddress`. */
  readonly to: string;
  /** Whose purge takes the mail along; null when the account is not known. */
  readonly accountId: string | null;
  readonly locale: string;
  /** From then on the mail is of no use and is not sent: the end of its code or link. */
  readonly expiresAt: Date;
}

interface Dependencies {
  readonly queue: Pick<MailQueue, "insert">;
  readonly clock: Clock;
  readonly baseUrl: string;
  /** Called after the commit: there is something to send. */
  readonly wake: () => void;
}

/** What sends mail: in the transaction of the change, so that a mail leaves if and only if the change happened. */
export interface Mails {
  enqueue(tx: Tx, mail: Envelope & MailContent): Promise<void>;
}

/** Puts mails into the queue, from which `send-due-mails.ts` takes them within milliseconds of the commit. */
export function createMails({ queue, clock, baseUrl, wake }: Dependencies): Mails {
  return {
    async enqueue(tx, mail) {
      const { to, accountId, locale, expiresAt, kind } = mail;
      const now = clock.now();
      const id = uuidv7(now.getTime());
      const content = { id, to, ...writeMail(mail, locale, baseUrl) };
      await queue.insert(tx, { ...content, accountId, kind, createdAt: now, expiresAt });
      tx.afterCommit(wake);
    },
  };
}
