import { minutes, seconds } from "@signalbox/core";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import { MailRefused, type MailTransport } from "./mail.ts";
import type { MailQueue, QueuedMail } from "./mail-queue.ts";

interface Dependencies {
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
export function createSendDueMails({ queue, transport, log, metrics, tracer }: Dependencies) {
  const outcomes = metrics.counter("signalbox_mails_total");
  metrics.gauge("signalbox_mail_oldest_seconds", async (gauge) => {
    gauge.set({}, await queue.oldestSeconds().catch(() => 0));
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
