import type { Mail } from "./mail.ts";

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
