interface Values {
  readonly code: string;
}

/** To somebody who signs in with this address. */
export const signInCode = {
  en: ({ code }: Values) => [
    "Your sign-in code",
    "To sign in, enter this code on the page where you asked for it:",
    `    ${code}`,
    "It works once and for ten minutes. Nobody of ours ever asks you for it. If this was not you, do nothing.",
  ],
  de: ({ code }: Values) => [
    "Ihr Anmeldecode",
    "Geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben:",
    `    ${code}`,
    "Er gilt einmal und zehn Minuten lang. Niemand von uns fragt Sie je danach. Wenn Sie das nicht waren, tun Sie nichts.",
  ],
};
