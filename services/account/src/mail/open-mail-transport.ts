import process from "node:process";
import type { Mail } from "./mail.ts";
import type { MailTransport } from "./mail-transport.ts";
import { createSmtpTransport } from "./smtp-transport.ts";

/** The transport that `mail.url` names: a mail server, or `log:`, which prints mails where their operator sees them. */
export function openMailTransport(url: string, from: string): MailTransport {
  if (url === "log:") return { send: async (mail) => void process.stderr.write(printed(mail, from)) };
  return createSmtpTransport(new URL(url), from);
}

/** Set apart from the log lines around it, and none of them itself: those never hold codes and addresses. */
function printed({ to, subject, text }: Mail, from: string): string {
  const body = text.trimEnd().replaceAll("\n", "\n  | ");
  return `\n  | From: ${from}\n  | To: ${to}\n  | Subject: ${subject}\n  |\n  | ${body}\n\n`;
}
