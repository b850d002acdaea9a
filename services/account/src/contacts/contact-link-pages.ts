import { bytes, type HttpResponse } from "@signalbox/http";
import { Html, html, pagePolicy, pageText, pageType } from "../pages/page.ts";

interface LinkPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The text of its one button; left out when there is nothing to do. The button posts to where the page is. */
  readonly button?: string;
}

/** The texts of the pages behind links. `address` is a hint, never readable in full. */
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
      paragraphs: [
        `Someone asked to use ${address} as the contact address of an account.`,
        "Confirm only if this was you.",
      ],
      button: "Confirm the address",
    }),
    confirmed: {
      title: "The address is confirmed",
      paragraphs: ["It is now the contact address of the account. You can close this page."],
    },
    object: (address) => ({
      title: "Keep the previous contact address",
      paragraphs: [
        `${address} was, or is about to be, replaced or removed as the contact address of an account.`,
        "If this was not you, object to the change: the address then stays in use or is restored.",
      ],
      button: "Object to the change",
    }),
    kept: {
      title: "This address is in use",
      paragraphs: [
        "The change was undone.",
        "Now sign out everywhere (DELETE /api/account/sign-ins/, or at your identity provider) and check your API keys: someone else has had access to your account.",
      ],
    },
    ended: {
      title: "This link is no longer valid",
      paragraphs: ["It has expired, was used, or was replaced by a newer one. Nothing has changed."],
    },
    blocked: {
      title: "This is not possible right now",
      paragraphs: ["The account is suspended, disabled or deleted. Nothing has changed."],
    },
    unknown: {
      title: "This link does not exist",
      paragraphs: ["Check that you copied the whole link from the mail."],
    },
  },
  de: {
    confirm: (address) => ({
      title: "Kontaktadresse bestätigen",
      paragraphs: [
        `Jemand möchte ${address} als Kontaktadresse eines Kontos verwenden.`,
        "Bestätigen Sie nur, wenn Sie das waren.",
      ],
      button: "Adresse bestätigen",
    }),
    confirmed: {
      title: "Die Adresse ist bestätigt",
      paragraphs: ["Sie ist jetzt die Kontaktadresse des Kontos. Sie können diese Seite schließen."],
    },
    object: (address) => ({
      title: "Vorherige Kontaktadresse behalten",
      paragraphs: [
        `${address} wurde oder wird als Kontaktadresse eines Kontos ersetzt oder entfernt.`,
        "Wenn Sie das nicht waren, widersprechen Sie der Änderung: Die Adresse bleibt dann in Gebrauch oder wird wiederhergestellt.",
      ],
      button: "Der Änderung widersprechen",
    }),
    kept: {
      title: "Diese Adresse ist in Gebrauch",
      paragraphs: [
        "Die Änderung wurde zurückgenommen.",
        "Melden Sie sich jetzt überall ab (DELETE /api/account/sign-ins/, oder bei Ihrem Identitätsanbieter) und prüfen Sie Ihre API-Schlüssel: Jemand anderes hatte Zugriff auf Ihr Konto.",
      ],
    },
    ended: {
      title: "Dieser Link ist nicht mehr gültig",
      paragraphs: ["Er ist abgelaufen, wurde benutzt oder durch einen neueren ersetzt. Nichts hat sich geändert."],
    },
    blocked: {
      title: "Das ist derzeit nicht möglich",
      paragraphs: ["Das Konto ist gesperrt, deaktiviert oder gelöscht. Nichts hat sich geändert."],
    },
    unknown: {
      title: "Diesen Link gibt es nicht",
      paragraphs: ["Prüfen Sie, ob Sie den Link vollständig aus der E-Mail kopiert haben."],
    },
  },
};

/** The texts in the language of a locale, in English where there is no other. */
export function linkPageTexts(locale: string): { readonly language: string; readonly texts: LinkPageTexts } {
  const language = locale.startsWith("de") ? "de" : "en";
  return { language, texts: texts[language] };
}

/** A small page for people who followed a link from a mail: headings and a labelled button, for any reader and no script. */
export function linkPage(status: number, language: string, { title, paragraphs, button }: LinkPage): HttpResponse {
  const text = paragraphs.map((paragraph) => html`<p>${paragraph}</p>`.text).join("\n");
  const form = button === undefined ? null : html`<form method="post"><button type="submit">${button}</button></form>`;
  const page = pageText({ status, language, title, content: html`${new Html(text)}\n${form}` });
  return bytes(Buffer.from(page), pageType, { status, cache: "no-store", headers: pagePolicy() });
}
