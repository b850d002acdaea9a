import { seconds, uuidv7 } from "@signalbox/core";
import { createWakeUp, type Runner } from "@signalbox/runtime";
import type { Pool, Sealer, Tx } from "@signalbox/storage";
import type { Configured } from "../properties.ts";
import { createMailQueue } from "./mail-queue.ts";
import { openMailTransport } from "./mail-transport.ts";
import { createSendDueMails } from "./send-due-mails.ts";
import { type MailContent, type Sender, writeMail } from "./write-mail.ts";

interface Envelope {
  /** An address that passed `checkContactAddress`. */
  readonly to: string;
  /** The account whose purge deletes the mail; null when unknown. */
  readonly accountId: string | null;
  readonly locale: string;
  readonly timezone: string;
  /** Time after which the mail is useless and is not sent: the end of its code or link. */
  readonly expiresAt: Date;
}

export type Mails = Pick<ReturnType<typeof createMails>, "enqueue">;

/** Outgoing mails: operations queue them, a worker sends them. */
export function createMails(context: Configured, pool: Pool, sealer: Sealer) {
  const { configuration, clock } = context;
  const sender = (): Sender => ({
    server: configuration.get("server.name"),
    baseUrl: configuration.get("http.base-url"),
    supportUrl: configuration.get("server.support-url"),
  });
  const queue = createMailQueue(pool, sealer);
  // Interval of looking for mails that a killed instance left behind.
  const wakeUp = createWakeUp(seconds(1));
  const transport = openMailTransport(configuration.get("mail.url"), configuration.get("mail.from"));
  return {
    /** Queues a mail in the transaction of the change that it reports: it leaves if and only if the change commits. */
    async enqueue(tx: Tx, mail: Envelope & MailContent): Promise<void> {
      const { to, accountId, locale, timezone, expiresAt, ...content } = mail;
      const { kind } = content;
      const createdAt = clock.now();
      const text = writeMail(content, { locale, timezone, createdAt, expiresAt }, sender());
      await queue.insert(tx, { id: uuidv7(createdAt.getTime()), to, ...text, accountId, kind, createdAt, expiresAt });
      tx.afterCommit(wakeUp.wake);
    },

    /** Starts the worker that sends due mails. */
    startWorker(runner: Pick<Runner, "every">): void {
      runner.every("mail", wakeUp, createSendDueMails({ ...context, queue, transport }));
    },
  };
}
