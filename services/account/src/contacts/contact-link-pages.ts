import { bytes, type HttpResponse } from "@signalbox/http";
import { Html, html, type Page, pagePolicy, pageText, pageType } from "../pages/page.ts";
import type { LinkOutcome } from "./contact-changes.ts";
import { hintOf, labelOf } from "./contact-link.ts";

interface LinkPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The text of its one button; left out when there is nothing to do. The button posts to where the page is. */
  readonly button?: string;
}

/** The texts of the pages behind links. `address` is a hint, never readable in full; `account` says whose account asks. */
interface LinkPageTexts {
  readonly confirm: (address: string, account: string) => LinkPage;
  /** To a browser that is signed in to another account, or to none. */
  readonly signIn: (address: string, account: string) => LinkPage;
  /** Where people sign in at an issuer of somebody else's. */
  readonly enterCode: (address: string, account: string) => LinkPage;
  readonly confirmed: LinkPage;
  readonly taken: LinkPage;
  readonly object: (address: string) => LinkPage;
  readonly kept: LinkPage;
  readonly ended: LinkPage;
  readonly blocked: LinkPage;
  readonly unknown: LinkPage;
}

const texts: Readonly<Record<"en" | "de", LinkPageTexts>> = {
  en: {
    confirm: (address, account) => ({
      title: "Confirm this contact address",
      paragraphs: [
        `The account ${account} asks to use ${address} as its contact address. You are signed in to it.`,
        "Confirm only if this was you.",
      ],
      button: "Confirm the address",
    }),
    signIn: (address, account) => ({
      title: "Sign in to confirm this address",
      paragraphs: [
        `The account ${account} asks to use ${address} as its contact address.`,
        "If this is your account, sign in to it. Then you can confirm the address.",
        "If it is not, close this page: nobody can use your address without your confirmation.",
      ],
      button: "Sign in",
    }),
    enterCode: (address, account) => ({
      title: "Enter the code to confirm this address",
      paragraphs: [
        `The account ${account} asks to use ${address} as its contact address.`,
        "If this is your account, sign in to it in the application where you asked, and enter the code from the mail there.",
        "If it is not, close this page: nobody can use your address without your confirmation.",
      ],
    }),
    confirmed: {
      title: "The address is confirmed",
      paragraphs: ["It is now the contact address of the account. You can close this page."],
    },
    taken: {
      title: "This address belongs to another account",
      paragraphs: [
        "It is the verified address of another account. Change or remove it there first, then ask for another code here. Nothing has changed.",
      ],
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
    confirm: (address, account) => ({
      title: "Kontaktadresse bestätigen",
      paragraphs: [
        `Das Konto ${account} möchte ${address} als Kontaktadresse verwenden. Sie sind bei diesem Konto angemeldet.`,
        "Bestätigen Sie nur, wenn Sie das waren.",
      ],
      button: "Adresse bestätigen",
    }),
    signIn: (address, account) => ({
      title: "Melden Sie sich an, um diese Adresse zu bestätigen",
      paragraphs: [
        `Das Konto ${account} möchte ${address} als Kontaktadresse verwenden.`,
        "Wenn das Ihr Konto ist, melden Sie sich bei ihm an. Danach können Sie die Adresse bestätigen.",
        "Wenn nicht, schließen Sie diese Seite: Ohne Ihre Bestätigung kann niemand Ihre Adresse verwenden.",
      ],
      button: "Anmelden",
    }),
    enterCode: (address, account) => ({
      title: "Geben Sie den Code ein, um diese Adresse zu bestätigen",
      paragraphs: [
        `Das Konto ${account} möchte ${address} als Kontaktadresse verwenden.`,
        "Wenn das Ihr Konto ist, melden Sie sich in der Anwendung an, in der Sie die Änderung veranlasst haben, und geben Sie dort den Code aus der E-Mail ein.",
        "Wenn nicht, schließen Sie diese Seite: Ohne Ihre Bestätigung kann niemand Ihre Adresse verwenden.",
      ],
    }),
    confirmed: {
      title: "Die Adresse ist bestätigt",
      paragraphs: ["Sie ist jetzt die Kontaktadresse des Kontos. Sie können diese Seite schließen."],
    },
    taken: {
      title: "Diese Adresse gehört zu einem anderen Konto",
      paragraphs: [
        "Sie ist die bestätigte Adresse eines anderen Kontos. Ändern oder entfernen Sie sie zuerst dort und fordern Sie dann hier einen neuen Code an. Nichts hat sich geändert.",
      ],
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
export function linkPage(status: number, language: string, { title, paragraphs, button }: LinkPage): Page {
  const text = paragraphs.map((paragraph) => html`<p>${paragraph}</p>`.text).join("\n");
  const form = button === undefined ? null : html`<form method="post"><button type="submit">${button}</button></form>`;
  return { status, language, title, content: html`${new Html(text)}\n${form}` };
}

const statuses = { confirmed: 200, kept: 200, blocked: 403, taken: 409, ended: 410 } as const;

/** The page that says what a link has done. */
export function usedLinkPage(result: LinkOutcome): Page {
  if (result.outcome === "unknown") return linkPage(404, "en", texts.en.unknown);
  const { language, texts: own } = linkPageTexts(result.account.locale);
  if (result.outcome !== "not-signed-in") return linkPage(statuses[result.outcome], language, own[result.outcome]);
  return linkPage(403, language, own.enterCode(hintOf(result.address), labelOf(result.account)));
}

/** The page as a route answers it. */
export const pageResponse = (page: Page): HttpResponse =>
  bytes(Buffer.from(pageText(page)), pageType, { status: page.status, cache: "no-store", headers: pagePolicy() });
