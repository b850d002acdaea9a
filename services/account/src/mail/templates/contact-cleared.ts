interface Values {
  readonly link: string;
  readonly hours: number;
}

/** To the address that was in use until it was removed. */
export const contactCleared = {
  en: ({ link, hours }: Values) => [
    "Your contact address was removed",
    "Your account has no contact address any more; it was this one until now.",
    "If this was you, there is nothing to do.",
    `If not, object within ${hours} hours on this page, and this address is in use again:\n${link}`,
    "Then end all sign-ins of your account (DELETE /api/account/sign-ins/, or with your identity provider) and look at your API keys: somebody acted in your name.",
  ],
  de: ({ link, hours }: Values) => [
    "Ihre Kontaktadresse wurde entfernt",
    "Ihr Konto hat keine Kontaktadresse mehr; bis jetzt war es diese.",
    "Wenn Sie das waren, ist nichts zu tun.",
    `Wenn nicht, widersprechen Sie innerhalb von ${hours} Stunden auf dieser Seite, und diese Adresse ist wieder in Gebrauch:\n${link}`,
    "Beenden Sie danach alle Anmeldungen Ihres Kontos (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter) und prüfen Sie Ihre API-Schlüssel: Jemand hat in Ihrem Namen gehandelt.",
  ],
};
