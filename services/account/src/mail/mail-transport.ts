import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { seconds } from "@signalbox/core";
import { createTransport } from "nodemailer";

/** An outgoing mail: text only, and free of user input except for the addresses. */
export interface Mail {
  /** Names the mail in logs and in its `Message-ID`, by which a receiver recognises a repetition. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail. Resolves when the server has accepted it. */
export interface MailTransport {
  /** @throws MailRefused for a permanently refused mail; any other error may be retried. */
  send(mail: Mail): Promise<void>;
}

/**
 * A permanent refusal by the server (RFC 5321 §4.2.1, 5yz). It does not hold the address, which must stay out of logs.
 */
export class MailRefused extends Error {
  override readonly name = "MailRefused";

  constructor(code: string) {
    super(`the mail server rejected the mail: ${code}`);
  }
}

/** Time for one mail from connection to last answer. Shorter than its lease, or another instance sends it too. */
const sendDeadlineMs = seconds(20);

/** Codes of nodemailer for a server's answer about this mail, rather than about the connection or credentials. */
const aboutTheMail = new Set(["EENVELOPE", "EMESSAGE"]);

/** Opens the transport that `mail.url` names: a mail server, or `log:`, which prints mails to the operator. */
export function openMailTransport(url: string, from: string): MailTransport {
  if (url === "log:") return { send: async (mail) => void process.stderr.write(printed(mail, from)) };
  return createSmtpTransport(new URL(url), from);
}

/** Set apart from the log lines around it and not a log line itself: those never hold codes and addresses. */
function printed({ to, subject, text }: Mail, from: string): string {
  const body = text.trimEnd().replaceAll("\n", "\n  | ");
  return `\n  | From: ${from}\n  | To: ${to}\n  | Subject: ${subject}\n  |\n  | ${body}\n\n`;
}

/**
 * Sends over SMTP: `smtps://` in TLS from the first byte, `smtp://` with STARTTLS when the server offers it.
 * Credentials in the URL require TLS: they never travel in clear text.
 */
function createSmtpTransport(url: URL, from: string): MailTransport {
  const sender = parseMailbox(from);
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (url.protocol === "smtps:" ? 465 : 587),
    secure: url.protocol === "smtps:",
    requireTLS: url.username !== "",
    ...(url.username !== "" && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    dnsTimeout: seconds(5),
    connectionTimeout: seconds(5),
    greetingTimeout: seconds(5),
    socketTimeout: seconds(10),
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  return {
    async send(mail) {
      try {
        await withinDeadline(transport.sendMail(messageOf(mail, sender)));
      } catch (error) {
        throw refusalOf(error) ?? withoutAddress(error);
      }
    },
  };
}

function messageOf({ id, to, subject, text }: Mail, from: { name: string; address: string }) {
  return {
    from,
    // An object is taken literally: no part of the address is parsed as a list or a name.
    to: { name: "", address: to },
    subject,
    text,
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    // RFC 3834: prevents automatic replies.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
}

/** Without a server's answer nodemailer itself refused the mail, and would do so again. */
function refusalOf(error: unknown): MailRefused | null {
  const { code = "", responseCode = 550 } = error as SmtpError;
  return aboutTheMail.has(code) && responseCode >= 500 ? new MailRefused(`${code} ${responseCode}`) : null;
}

/** Servers and nodemailer repeat the recipient in their messages, so only the codes are kept. */
function withoutAddress(error: unknown): Error {
  const { code = "unknown", responseCode } = error as SmtpError;
  return new Error(`the mail server did not accept the mail: ${[code, responseCode].filter(Boolean).join(" ")}`);
}

async function withinDeadline(sending: Promise<unknown>): Promise<void> {
  const deadline = new AbortController();
  const late = sleep(sendDeadlineMs, undefined, { signal: deadline.signal }).then(() => {
    throw Object.assign(new Error("the deadline passed"), { code: "ETIMEDOUT" });
  });
  try {
    await Promise.race([sending, late]);
  } finally {
    deadline.abort();
    late.catch(() => {});
    sending.catch(() => {});
  }
}

/** Parses `Name <address>`. */
function parseMailbox(text: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name, address };
}
