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
    super(`the mail server refused the mail: ${code}`);
  }
}

/** The values that `mail.from` accepts: an address, or a name and an address. */
export const mailboxPattern = '^([^<>"\\p{Cc}]{1,80} <[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$';

/** Parses `Name <address>`. */
export function parseMailbox(text: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name, address };
}
