interface Code {
  readonly code: string;
}

interface Confirmation extends Code {
  readonly link: string;
}

interface Objection {
  readonly link: string;
  /** How long the link works. */
  readonly hours: number;
}

interface Replacement extends Objection {
  /** The new address, not readable in full: this mailbox may be somebody else's by now. */
  readonly newAddress: string;
}

const signOut = {
  en: "sign out everywhere (DELETE /api/account/sign-ins/, or at your identity provider)",
  de: "überall ab (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter)",
};
const afterObjecting = {
  en: `Then ${signOut.en} and check your API keys: someone else has had access to your account.`,
  de: `Melden Sie sich danach ${signOut.de} und prüfen Sie Ihre API-Schlüssel: Jemand anderes hatte Zugriff auf Ihr Konto.`,
};
const codeRules = {
  en: "The code works once and expires after ten minutes. Never share it: our staff will not ask you for it.",
  de: "Der Code gilt einmal und zehn Minuten lang. Geben Sie ihn nie weiter: Unsere Mitarbeiter fragen nicht danach.",
};

/** Every mail that we send, by kind: in each language the subject, then the paragraphs. */
const mailTexts = {
  /** To a new contact address. */
  "confirm-contact": {
    en: ({ code, link }: Confirmation) => [
      "Confirm your contact address",
      "Someone asked to use this address as the contact address of an account. If this was you, enter this code to confirm it:",
      `    ${code}`,
      `Or open this page and confirm there:\n${link}`,
      "You need only one of the two. Both expire after one hour. If this was not you, ignore this mail: the address will not be used without your confirmation.",
    ],
    de: ({ code, link }: Confirmation) => [
      "Kontaktadresse bestätigen",
      "Jemand möchte diese Adresse als Kontaktadresse eines Kontos verwenden. Wenn Sie das waren, geben Sie zur Bestätigung diesen Code ein:",
      `    ${code}`,
      `Oder öffnen Sie diese Seite und bestätigen Sie dort:\n${link}`,
      "Sie brauchen nur eines von beiden. Beide gelten eine Stunde lang. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ohne Ihre Bestätigung wird die Adresse nicht verwendet.",
    ],
  },
  /** To the address in use, when another one is requested. */
  "contact-change-requested": {
    en: ({ newAddress, link, hours }: Replacement) => [
      "Your contact address is about to change",
      `The contact address of your account is about to change from this address to ${newAddress}. The change takes effect once the new address is confirmed.`,
      "If you requested this, there is nothing to do.",
      `If you did not, object on this page within ${hours} hours to keep this address:\n${link}`,
      afterObjecting.en,
    ],
    de: ({ newAddress, link, hours }: Replacement) => [
      "Ihre Kontaktadresse soll geändert werden",
      `Die Kontaktadresse Ihres Kontos soll von dieser Adresse zu ${newAddress} geändert werden. Die Änderung wird wirksam, sobald die neue Adresse bestätigt ist.`,
      "Wenn Sie das veranlasst haben, ist nichts zu tun.",
      `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, um diese Adresse zu behalten:\n${link}`,
      afterObjecting.de,
    ],
  },
  /** To the address that was in use until now. */
  "contact-changed": {
    en: ({ newAddress, link, hours }: Replacement) => [
      "Your contact address has changed",
      `The contact address of your account was changed from this address to ${newAddress}.`,
      "If you requested this, there is nothing to do.",
      `If you did not, object on this page within ${hours} hours to restore this address:\n${link}`,
      afterObjecting.en,
    ],
    de: ({ newAddress, link, hours }: Replacement) => [
      "Ihre Kontaktadresse wurde geändert",
      `Die Kontaktadresse Ihres Kontos wurde von dieser Adresse zu ${newAddress} geändert.`,
      "Wenn Sie das veranlasst haben, ist nichts zu tun.",
      `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, um diese Adresse wiederherzustellen:\n${link}`,
      afterObjecting.de,
    ],
  },
  /** To the address that was in use until it was removed. */
  "contact-cleared": {
    en: ({ link, hours }: Objection) => [
      "Your contact address was removed",
      "This address was removed from your account, which has no contact address now.",
      "If you requested this, there is nothing to do.",
      `If you did not, object on this page within ${hours} hours to restore this address:\n${link}`,
      afterObjecting.en,
    ],
    de: ({ link, hours }: Objection) => [
      "Ihre Kontaktadresse wurde entfernt",
      "Diese Adresse wurde aus Ihrem Konto entfernt. Es hat jetzt keine Kontaktadresse mehr.",
      "Wenn Sie das veranlasst haben, ist nichts zu tun.",
      `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, um diese Adresse wiederherzustellen:\n${link}`,
      afterObjecting.de,
    ],
  },
  /** To the address that lost, when an earlier holder has objected. */
  "contact-change-undone": {
    en: (_values: object) => [
      "A change of contact address was undone",
      "This address was, or was about to become, the contact address of an account. The holder of the previous address objected, so the account uses the previous address.",
      "If this is your account, sign in and change the contact address again.",
    ],
    de: (_values: object) => [
      "Eine Änderung der Kontaktadresse wurde zurückgenommen",
      "Diese Adresse war die Kontaktadresse eines Kontos oder sollte es werden. Der Inhaber der vorherigen Adresse hat widersprochen, daher verwendet das Konto die vorherige Adresse.",
      "Wenn das Konto Ihnen gehört, melden Sie sich an und ändern Sie die Kontaktadresse noch einmal.",
    ],
  },
  /** To the verified address of somebody who is signed in and wants to do something that needs more proof. */
  "step-up-code": {
    en: ({ code }: Code) => [
      "Your confirmation code",
      "Enter this code to continue with your change:",
      `    ${code}`,
      codeRules.en,
      `If you did not ask for it, someone else is signed in to your account: ${signOut.en}.`,
    ],
    de: ({ code }: Code) => [
      "Ihr Bestätigungscode",
      "Geben Sie diesen Code ein, um mit Ihrer Änderung fortzufahren:",
      `    ${code}`,
      codeRules.de,
      `Wenn Sie ihn nicht angefordert haben, ist jemand anderes in Ihrem Konto angemeldet: Melden Sie sich ${signOut.de}.`,
    ],
  },
  /** To somebody who signs in with this address. */
  "sign-in-code": {
    en: ({ code }: Code) => [
      "Your sign-in code",
      "To sign in, enter this code on the page where you asked for it:",
      `    ${code}`,
      codeRules.en,
      "If you did not ask for it, ignore this mail.",
    ],
    de: ({ code }: Code) => [
      "Ihr Anmeldecode",
      "Geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben:",
      `    ${code}`,
      codeRules.de,
      "Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail.",
    ],
  },
};

type MailTexts = typeof mailTexts;
export type MailKind = keyof MailTexts;

/** The kind of a mail with the values that its text needs. */
export type MailContent = {
  [Kind in MailKind]: { readonly kind: Kind } & Parameters<MailTexts[Kind]["en"]>[0];
}[MailKind];

/** Writes a mail in the language of `locale`, in English where there is no other. */
export function writeMail(content: MailContent, locale: string, baseUrl: string): { subject: string; text: string } {
  const language = locale.startsWith("de") ? "de" : "en";
  // The kind and the values of `content` belong together, which the lookup cannot know.
  const textOf = mailTexts[content.kind][language] as (values: MailContent) => readonly string[];
  const [subject = "", ...paragraphs] = textOf(content);
  return { subject, text: `${[...paragraphs, `-- \nSignalbox, ${baseUrl}`].join("\n\n")}\n` };
}
