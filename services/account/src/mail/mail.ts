/** A mail as it leaves: text alone, and nothing in it that a user wrote but the addresses. */
export interface Mail {
  /** Names the mail in logs, and in its `Message-ID`, by which a receiver knows a repeated one. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands a mail over. Resolves when the other side has taken it. */
export interface MailTransport {
  /** @throws MailRefused for a mail that will never be taken; anything else may be tried again. */
  send(mail: Mail): Promise<void>;
}

/** The server said no for good (RFC 5321 §4.2.1, 5yz). Says nothing of the mail: its address is not for the log. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";

  constructor(code: string) {
    super(`the mail server refused the mail: ${code}`);
  }
}

/** The values that `mail.from` accepts: an address alone, or with a name before it. */
export const mailboxPattern = '^([^<>"\\p{Cc}]{1,80} <[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$';

/** Takes `Name <address>` apart. */
export function parseMailbox(text: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name, address };
}
