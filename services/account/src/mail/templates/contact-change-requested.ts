interface Values {
  /** The new address, not readable in full: this mailbox may be somebody else's by now. */
  readonly newAddress: string;
  readonly link: string;
  readonly hours: number;
}

/** To the address in use: somebody wants to replace you. */
export const contactChangeRequested = {
  en: ({ newAddress, link, hours }: Values) => [
    "Your contact address is about to change",
    `The contact address of your account is to change from this one to ${newAddress}. The change waits until the new address is confirmed.`,
    "If this was you, there is nothing to do.",
    `If not, object within ${hours} hours on this page, and this address stays in use:\n${link}`,
    "Then end all sign-ins of your account (DELETE /api/account/sign-ins/, or with your identity provider) and look at your API keys: somebody acted in your name.",
  ],
  de: ({ newAddress, link, hours }: Values) => [
    "Ihre Kontaktadresse soll sich ändern",
    `Die Kontaktadresse Ihres Kontos soll von dieser Adresse zu ${newAddress} wechseln. Die Änderung wartet, bis die neue Adresse bestätigt ist.`,
    "Wenn Sie das waren, ist nichts zu tun.",
    `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, und diese Adresse bleibt in Gebrauch:\n${link}`,
    "Beenden Sie danach alle Anmeldungen Ihres Kontos (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter) und prüfen Sie Ihre API-Schlüssel: Jemand hat in Ihrem Namen gehandelt.",
  ],
};
