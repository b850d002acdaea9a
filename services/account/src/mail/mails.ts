import { type Clock, minutes, seconds, uuidv7 } from "@signalbox/core";
import type { Logger, Metrics, Tracer } from "@signalbox/runtime";
import { createWakeUp, type Runner } from "@signalbox/runtime";
import type { Pool, Sealer, Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import {
  insertQueuedMail,
  leaseDueMails,
  oldestMailSeconds,
  openQueuedMail,
  postponeQueuedMail,
  type QueuedMail,
  removeMail,
  removeOutdatedMails,
} from "./mail-queue.ts";
import { MailRefused, type MailTransport } from "./mail-transport.ts";
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

export const envelopeOf = (
  { id: accountId, locale, timezone }: Pick<Account, "id" | "locale" | "timezone">,
  to: string,
  expiresAt: Date,
): Envelope => ({ to, accountId, locale, timezone, expiresAt });

/** Mails sent at the same time. */
const batch = 10;
/** Longer than the deadline of one mail, or a mail on its way is sent by another instance too. */
const leaseMs = minutes(1);
/** A code lives for minutes: its mail must leave in time once the server is back. */
const retryMsMax = seconds(30);

interface MailsOptions {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly transport: MailTransport;
  /** Called for each mail, because the name of the deployment is a live property. */
  readonly sender: () => Sender;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** Outgoing mails: operations queue them, a worker sends them. */
export class Mails {
  readonly #options: MailsOptions;
  // Interval of looking for mails that a killed instance left behind.
  readonly #wakeUp = createWakeUp(seconds(1));

  constructor(options: MailsOptions) {
    this.#options = options;
  }

  /** Queues a mail in the transaction of the change that it reports: it leaves if and only if the change commits. */
  async enqueue(tx: Tx, mail: Envelope & MailContent): Promise<void> {
    const { sealer, sender, clock } = this.#options;
    const { to, accountId, locale, timezone, expiresAt, ...content } = mail;
    const { kind } = content;
    const createdAt = clock.now();
    const text = writeMail(content, { locale, timezone, createdAt, expiresAt }, sender());
    const id = uuidv7(createdAt.getTime());
    await insertQueuedMail(tx, sealer, { id, to, ...text, accountId, kind, createdAt, expiresAt });
    tx.afterCommit(this.#wakeUp.wake);
  }

  /** Starts the worker that sends due mails. */
  startWorker(runner: Runner): void {
    const { pool, metrics } = this.#options;
    const outcomes = metrics.counter("signalbox_mails_total");
    metrics.gauge("signalbox_mail_oldest_seconds", async (gauge) => {
      gauge.set({}, await oldestMailSeconds(pool));
    });
    const conclude = (mail: QueuedMail, outcome: string, error?: unknown) => {
      outcomes.inc({ kind: mail.kind, outcome });
      this.#logOutcome(mail, outcome, error);
    };
    runner.every("mail", this.#wakeUp, () => this.#sendDue(conclude));
  }

  /**
   * Sends the due mails, once. A mail whose process crashes between the server's answer and the removal of its row is
   * sent again after its lease: at least once, with the same `Message-ID`.
   */
  async #sendDue(conclude: Conclude): Promise<"again" | "done"> {
    const { pool } = this.#options;
    for (const mail of await removeOutdatedMails(pool)) conclude(mail, "out_of_date");
    const leased = await leaseDueMails(pool, batch, leaseMs);
    await Promise.all(leased.map((mail) => this.#attempt(mail, conclude)));
    return leased.length > 0 ? "again" : "done";
  }

  async #attempt(mail: QueuedMail, conclude: Conclude): Promise<void> {
    const { pool, sealer, transport, tracer } = this.#options;
    try {
      const { kind, attempts } = mail;
      const options = { kind: "client", attributes: { "signalbox.mail.kind": kind, attempt: attempts } } as const;
      await tracer.span("send mail", options, () => transport.send(openQueuedMail(mail, sealer)));
    } catch (error) {
      // A mail whose sealing key is gone will never open.
      if (error instanceof MailRefused || (error as Error).name === "SealError") {
        await removeMail(pool, mail);
        return conclude(mail, "refused", error);
      }
      await postponeQueuedMail(pool, mail, retryAfterMs(mail.attempts));
      return conclude(mail, "failed", error);
    }
    await removeMail(pool, mail);
    conclude(mail, "sent");
  }

  /** Logs one line per attempt and one per abandoned mail. Never the address: the id finds it in the queue. */
  #logOutcome({ id, kind, attempts }: QueuedMail, outcome: string, error: unknown): void {
    const { log } = this.#options;
    const line = { mailId: id, kind, attempts, outcome, error };
    if (outcome === "sent") log.info(line, "mail");
    else log.warn(line, "mail");
  }
}

/** Counts and logs what came of a mail. */
type Conclude = (mail: QueuedMail, outcome: string, error?: unknown) => void;

/** One second, doubled with each attempt, with jitter. */
function retryAfterMs(attempts: number): number {
  const wholeMs = Math.min(retryMsMax, seconds(1) * 2 ** Math.min(attempts - 1, 20));
  return Math.round(wholeMs * (0.75 + Math.random() / 4));
}
