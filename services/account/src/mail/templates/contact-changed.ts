interface Values {
  /** The new address, not readable in full: this mailbox may be somebody else's by now. */
  readonly newAddress: string;
  readonly link: string;
  readonly hours: number;
}

/** To the address that was in use until now. */
export const contactChanged = {
  en: ({ newAddress, link, hours }: Values) => [
    "Your contact address has changed",
    `The contact address of your account is now ${newAddress} and no longer this one.`,
    "If this was you, there is nothing to do.",
    `If not, object within ${hours} hours on this page, and this address is in use again:\n${link}`,
    "Then end all sign-ins of your account (DELETE /api/account/sign-ins/, or with your identity provider) and look at your API keys: somebody acted in your name.",
  ],
  de: ({ newAddress, link, hours }: Values) => [
    "Ihre Kontaktadresse hat sich geändert",
    `Die Kontaktadresse Ihres Kontos ist jetzt ${newAddress} und nicht mehr diese.`,
    "Wenn Sie das waren, ist nichts zu tun.",
    `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, und diese Adresse ist wieder in Gebrauch:\n${link}`,
    "Beenden Sie danach alle Anmeldungen Ihres Kontos (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter) und prüfen Sie Ihre API-Schlüssel: Jemand hat in Ihrem Namen gehandelt.",
  ],
};
