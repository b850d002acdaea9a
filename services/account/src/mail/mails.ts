import { minutes, seconds, uuidv7 } from "@signalbox/core";
import { createWakeUp, type Runner } from "@signalbox/runtime";
import type { Pool, Sealer, Tx } from "@signalbox/storage";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { Account } from "../accounts/account.ts";
import type { Configured } from "../properties.ts";
import { createMailQueue, type MailQueue, type QueuedMail } from "./mail-queue.ts";
import { MailRefused, type MailTransport, openMailTransport } from "./mail-transport.ts";
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

/** Addresses a mail about an account. */
export const envelopeOf = (
  { id: accountId, locale, timezone }: Pick<Account, "id" | "locale" | "timezone">,
  to: string,
  expiresAt: Date,
): Envelope => ({ to, accountId, locale, timezone, expiresAt });

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

interface SendingDependencies {
  readonly queue: MailQueue;
  readonly transport: MailTransport;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** Mails sent at the same time. */
const batch = 10;
/** Longer than the deadline of one mail, or a mail on its way is sent by another instance too. */
const leaseMs = minutes(1);
/** A code lives for minutes: its mail must leave in time once the server is back. */
const retryMsMax = seconds(30);

/**
 * Sends the due mails, once. A mail whose process crashes between the server's answer and the removal of its row is
 * sent again after its lease: at least once, with the same `Message-ID`.
 */
function createSendDueMails({ queue, transport, log, metrics, tracer }: SendingDependencies) {
  const outcomes = metrics.counter("signalbox_mails_total");
  metrics.gauge("signalbox_mail_oldest_seconds", async (gauge) => {
    gauge.set({}, await queue.oldestSeconds());
  });

  return async function sendDueMails(): Promise<"again" | "done"> {
    for (const mail of await queue.removeOutdated()) conclude(mail, "out_of_date");
    const leased = await queue.lease(batch, leaseMs);
    await Promise.all(leased.map(attempt));
    return leased.length > 0 ? "again" : "done";
  };

  async function attempt(mail: QueuedMail): Promise<void> {
    try {
      const { kind, attempts } = mail;
      const options = { kind: "client", attributes: { "signalbox.mail.kind": kind, attempt: attempts } } as const;
      await tracer.span("send mail", options, () => transport.send(queue.open(mail)));
    } catch (error) {
      // A mail whose sealing key is gone will never open.
      if (error instanceof MailRefused || (error as Error).name === "SealError") {
        await queue.remove(mail);
        return conclude(mail, "refused", error);
      }
      await queue.postpone(mail, retryAfterMs(mail.attempts));
      return conclude(mail, "failed", error);
    }
    await queue.remove(mail);
    conclude(mail, "sent");
  }

  /** Logs one line per attempt and one per abandoned mail. Never the address: the id finds it in the queue. */
  function conclude({ id, kind, attempts }: QueuedMail, outcome: string, error?: unknown): void {
    outcomes.inc({ kind, outcome });
    const line = { mailId: id, kind, attempts, outcome, ...(error !== undefined && { error }) };
    if (outcome === "sent") log.info(line, "mail");
    else log.warn(line, "mail");
  }
}

/** One second, doubled with each attempt, with jitter. */
function retryAfterMs(attempts: number): number {
  const wholeMs = Math.min(retryMsMax, seconds(1) * 2 ** Math.min(attempts - 1, 20));
  return Math.round(wholeMs * (0.75 + Math.random() / 4));
}
