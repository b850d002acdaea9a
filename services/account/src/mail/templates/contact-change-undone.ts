/** To the address that lost: an earlier holder objected. */
export const contactChangeUndone = {
  en: (_values: object) => [
    "A change of contact address was undone",
    "This address was to become, or was, the contact address of an account. The holder of the earlier address has objected, and the earlier address is in use.",
    "If the account is yours, sign in and change the contact address again.",
  ],
  de: (_values: object) => [
    "Eine Änderung der Kontaktadresse wurde zurückgenommen",
    "Diese Adresse sollte die Kontaktadresse eines Kontos werden oder war es. Wer die frühere Adresse hat, hat widersprochen, und die frühere Adresse ist in Gebrauch.",
    "Wenn das Konto Ihnen gehört, melden Sie sich an und ändern Sie die Kontaktadresse noch einmal.",
  ],
};
