import type { LinkPage } from "./link-page.ts";

/** What the pages behind links say. `address` is a hint, never readable in full. */
interface LinkPageTexts {
  readonly confirm: (address: string) => LinkPage;
  readonly confirmed: LinkPage;
  readonly object: (address: string) => LinkPage;
  readonly kept: LinkPage;
  readonly ended: LinkPage;
  readonly blocked: LinkPage;
  readonly unknown: LinkPage;
}

const texts: Readonly<Record<"en" | "de", LinkPageTexts>> = {
  en: {
    confirm: (address) => ({
      title: "Confirm this contact address",
      paragraphs: [`${address} is to become the contact address of an account.`, "Confirm only if you asked for it."],
      button: "Confirm the address",
    }),
    confirmed: {
      title: "The address is confirmed",
      paragraphs: ["It is in use from now on. You can close this page."],
    },
    object: (address) => ({
      title: "Keep the earlier contact address",
      paragraphs: [
        `${address} was, or still is, the contact address of an account, and somebody wants to use another one.`,
        "Object if that was not you: this address then stays, or is again, in use.",
      ],
      button: "Object to the change",
    }),
    kept: {
      title: "This address is in use",
      paragraphs: [
        "The change has no effect any more.",
        "Now end all sign-ins of your account (DELETE /api/account/sign-ins/, or with your identity provider) and look at your API keys: somebody acted in your name.",
      ],
    },
    ended: {
      title: "This link has ended",
      paragraphs: ["It was used, replaced by a newer one, or is too old. Nothing has changed."],
    },
    blocked: {
      title: "This is not possible now",
      paragraphs: ["The account is suspended, disabled or deleted. Nothing has changed."],
    },
    unknown: {
      title: "This link does not exist",
      paragraphs: ["Make sure that it was copied from the mail as a whole."],
    },
  },
  de: {
    confirm: (address) => ({
      title: "Kontaktadresse bestätigen",
      paragraphs: [
        `${address} soll die Kontaktadresse eines Kontos werden.`,
        "Bestätigen Sie nur, wenn Sie darum gebeten haben.",
      ],
      button: "Adresse bestätigen",
    }),
    confirmed: {
      title: "Die Adresse ist bestätigt",
      paragraphs: ["Sie ist ab jetzt in Gebrauch. Sie können diese Seite schließen."],
    },
    object: (address) => ({
      title: "Frühere Kontaktadresse behalten",
      paragraphs: [
        `${address} war oder ist die Kontaktadresse eines Kontos, und jemand möchte eine andere verwenden.`,
        "Widersprechen Sie, wenn Sie das nicht waren: Dann bleibt oder ist diese Adresse wieder in Gebrauch.",
      ],
      button: "Der Änderung widersprechen",
    }),
    kept: {
      title: "Diese Adresse ist in Gebrauch",
      paragraphs: [
        "Die Änderung hat keine Wirkung mehr.",
        "Beenden Sie jetzt alle Anmeldungen Ihres Kontos (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter) und prüfen Sie Ihre API-Schlüssel: Jemand hat in Ihrem Namen gehandelt.",
      ],
    },
    ended: {
      title: "Dieser Link gilt nicht mehr",
      paragraphs: ["Er wurde benutzt, durch einen neueren ersetzt oder ist zu alt. Nichts hat sich geändert."],
    },
    blocked: {
      title: "Das ist jetzt nicht möglich",
      paragraphs: ["Das Konto ist gesperrt, abgeschaltet oder gelöscht. Nichts hat sich geändert."],
    },
    unknown: {
      title: "Diesen Link gibt es nicht",
      paragraphs: ["Bitte prüfen Sie, ob er vollständig aus der E-Mail übernommen wurde."],
    },
  },
};

/** The texts in the language of a locale, in English where there is no other. */
export function linkPageTexts(locale: string): { readonly language: string; readonly texts: LinkPageTexts } {
  const language = locale.startsWith("de") ? "de" : "en";
  return { language, texts: texts[language] };
}
