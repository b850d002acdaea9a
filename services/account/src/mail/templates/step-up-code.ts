interface Values {
  readonly code: string;
}

/** To the verified address of somebody who is signed in and wants to do something that needs more proof. */
export const stepUpCode = {
  en: ({ code }: Values) => [
    "Your confirmation code",
    "To go on with what you are doing in your account, enter this code:",
    `    ${code}`,
    "It works once and for ten minutes. Nobody of ours ever asks you for it. If this was not you, somebody is signed in as you: end all sign-ins of your account (DELETE /api/account/sign-ins/, or with your identity provider).",
  ],
  de: ({ code }: Values) => [
    "Ihr Bestätigungscode",
    "Geben Sie diesen Code ein, um in Ihrem Konto fortzufahren:",
    `    ${code}`,
    "Er gilt einmal und zehn Minuten lang. Niemand von uns fragt Sie je danach. Wenn Sie das nicht waren, ist jemand als Sie angemeldet: Beenden Sie alle Anmeldungen Ihres Kontos (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter).",
  ],
};
