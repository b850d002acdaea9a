import { fill, minutesIn, type Texts, textsFor, timeIn } from "../texts/texts.ts";

/** The values of each mail's text, besides the times of its envelope. */
interface MailValues extends NoticeValues {
  /** To a new contact address. */
  readonly "confirm-contact": { readonly code: string; readonly link: string };
  /** To the address in use, when another one is requested. */
  readonly "contact-change-requested": Replacement;
  /** To the address that was in use until now. */
  readonly "contact-changed": Replacement;
  /** To the address that was in use until it was removed. */
  readonly "contact-cleared": { readonly link: string };
  /** To the address that lost to an earlier holder's objection. */
  readonly "contact-change-undone": object;
  /** To the verified address of a signed-in person whose next step needs more proof. */
  readonly "step-up-code": { readonly code: string };
  /** To a person whom an administrator invites. */
  readonly invitation: InvitedBy;
  /** To a person whom an owner invites into their account. */
  readonly "member-invitation": InvitedBy;
  /** To a person who signs in with this address. */
  readonly "sign-in-code": { readonly code: string };
}

/** The mails that notify an owner of a change to the account. */
interface NoticeValues {
  readonly "api-key-created": From & { readonly key: string };
  readonly "client-created": From & { readonly client: string };
  readonly "client-secret-rotated": From & { readonly client: string };
  readonly "login-added": From & { readonly issuer: string };
  /** To the owner of an account that a browser has signed in to for the first time. */
  readonly "browser-new": From & { readonly browser: string };
  readonly "passkey-added": From & { readonly name: string };
  /** To the owner of an account with passkeys that a mailed code was enough for. */
  readonly "passkey-not-used": From & { readonly browser: string };
  readonly "recovery-codes-created": From;
  /** To the owner of an account that a recovery code has signed in to; `left` are left. */
  readonly "recovery-code-used": From & { readonly browser: string; readonly left: string };
  /** An administrator made the mail's address that of the account. */
  readonly "contact-set": object;
  readonly "account-exported": object;
  /** An administrator ended this key, client, passkey or sign-in. */
  readonly "access-ended": { readonly id: string };
  /** An administrator ended every sign-in. */
  readonly "signed-out": object;
  readonly "account-disabled": object;
  readonly "account-suspended": object;
  /** The account can be restored until its data is erased. */
  readonly "account-deleted": { readonly eraseAt: Date };
}

interface InvitedBy {
  readonly inviter: string;
  readonly role: string;
  readonly link: string;
}

interface From {
  /** The client address of the request. */
  readonly address: string;
}

interface Replacement {
  readonly link: string;
  /** The new address, abbreviated: this mailbox may have another owner by now. */
  readonly newAddress: string;
}

export type MailKind = keyof MailValues;
export type NoticeKind = keyof NoticeValues;

/** The kind of a mail with the values that its text needs. */
export type MailContent = { [Kind in MailKind]: { readonly kind: Kind } & MailValues[Kind] }[MailKind];

/** The reason for each kind of mail, given in its last lines. */
const reasons: Readonly<Record<MailKind, keyof Texts["mailReasons"]>> = {
  "confirm-contact": "entered",
  "contact-change-requested": "account",
  "contact-changed": "account",
  "contact-cleared": "account",
  "contact-change-undone": "entered",
  "step-up-code": "account",
  invitation: "entered",
  "member-invitation": "entered",
  "sign-in-code": "entered",
  "api-key-created": "account",
  "client-created": "account",
  "client-secret-rotated": "account",
  "login-added": "account",
  "browser-new": "account",
  "passkey-added": "account",
  "passkey-not-used": "account",
  "recovery-codes-created": "account",
  "recovery-code-used": "account",
  "contact-set": "account",
  "account-exported": "account",
  "access-ended": "account",
  "signed-out": "account",
  "account-disabled": "account",
  "account-suspended": "account",
  "account-deleted": "account",
};

/** Language and time zone of the reader, and the times between which the mail is useful. */
interface Reading {
  readonly locale: string;
  readonly timezone: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface Sender {
  readonly server: string;
  readonly baseUrl: string;
  readonly supportUrl: string | null;
}

/** Writes a mail in the language of its reader. */
export function writeMail(content: MailContent, reading: Reading, sender: Sender): { subject: string; text: string } {
  const texts = textsFor([reading.locale]);
  const { kind, ...given } = content;
  const time = (at: Date) => timeIn(texts, at, reading.timezone);
  const shown = Object.entries(given).map(([name, value]) => [name, value instanceof Date ? time(value) : value]);
  const lifeMs = reading.expiresAt.getTime() - reading.createdAt.getTime();
  const values = {
    ...Object.fromEntries(shown),
    server: sender.server,
    // For mails of the built-in issuer.
    signIns: `${sender.baseUrl}/oauth/sign-ins`,
    minutes: minutesIn(texts, lifeMs),
    at: time(reading.createdAt),
    until: time(reading.expiresAt),
  };
  const { subject, paragraphs } = texts.mails[kind];
  const text = paragraphs.map((paragraph) => fill(paragraph, values)).join("\n\n");
  return { subject: fill(subject, values), text: `${text}\n\n-- \n${footer(texts, kind, sender)}\n` };
}

function footer(texts: Texts, kind: MailKind, { server, baseUrl, supportUrl }: Sender): string {
  const help = supportUrl === null ? [] : [fill(texts.help, { supportUrl })];
  return [fill(texts.mailReasons[reasons[kind]], { server }), ...help, `${server}, ${baseUrl}`].join("\n");
}
