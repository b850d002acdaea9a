interface Values {
  readonly code: string;
  readonly link: string;
}

/** To a new contact address: prove that you read what is sent here. */
export const confirmContact = {
  en: ({ code, link }: Values) => [
    "Confirm your contact address",
    "Somebody, hopefully you, wants to use this address as the contact address of an account. To confirm it, enter this code:",
    `    ${code}`,
    `or open this page and confirm there:\n${link}`,
    "Both work once and for one hour. If this was not you, do nothing: without you the address is not used.",
  ],
  de: ({ code, link }: Values) => [
    "Kontaktadresse bestätigen",
    "Jemand, hoffentlich Sie, möchte diese Adresse als Kontaktadresse eines Kontos verwenden. Geben Sie zur Bestätigung diesen Code ein:",
    `    ${code}`,
    `oder öffnen Sie diese Seite und bestätigen Sie dort:\n${link}`,
    "Beides gilt einmal und eine Stunde lang. Wenn Sie das nicht waren, tun Sie nichts: Ohne Sie wird die Adresse nicht verwendet.",
  ],
};
