import type { IncomingHttpHeaders } from "node:http";
import { bytes, type HttpResponse } from "@signalbox/http";
import type { Account } from "../accounts/account.ts";
import { Html, html, type Page, pageType } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import { fill, type Texts, textsFor } from "../texts/texts.ts";
import type { LinkOutcome } from "./contact-changes.ts";
import { type ContactLink, hintOf, isOpen, labelOf } from "./contact-link.ts";

/** The page that a link from a mail leads to. */
type LinkPage = Extract<
  keyof Texts["pages"],
  | "confirmContact"
  | "signInToConfirm"
  | "enterCodeToConfirm"
  | "contactConfirmed"
  | "contactTaken"
  | "objectToContact"
  | "contactKept"
  | "linkEnded"
  | "linkBlocked"
  | "linkUnknown"
>;

/** The texts of a link page. Its one button posts to the page's own address; without an action there is no button. */
interface LinkPageTexts {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly button?: string;
}

/** Builds a small page for a link from a mail: a heading and a labelled button, without a script. */
function linkPage(texts: Texts, status: number, name: LinkPage, values: Readonly<Record<string, string>> = {}): Page {
  const { title, paragraphs, button }: LinkPageTexts = texts.pages[name];
  const text = paragraphs.map((paragraph) => html`<p>${fill(paragraph, values)}</p>`.text).join("\n");
  const form =
    button === undefined
      ? null
      : html`<form method="post"><button type="submit" class="main">${button}</button></form>`;
  return { status, texts, title, content: html`${new Html(text)}\n${form}` };
}

/** Builds the page that shows what the link would do. It names the account that asks, and shows no address in full. */
export function lookedAtPage(
  { link, account, asks }: { link: ContactLink | null; account: Account | null; asks: LinkPage },
  { now, pages, headers }: { now: Date; pages: Pages; headers: IncomingHttpHeaders },
): Page {
  if (!link || !account) return linkPage(pages.textsFor(headers), 404, "linkUnknown");
  const texts = textsFor([account.locale]);
  if (!isOpen(link, now)) return linkPage(texts, 410, "linkEnded");
  return linkPage(texts, 200, asks, { address: hintOf(link.address), account: labelOf(account) });
}

const used: Readonly<Record<LinkOutcome["outcome"], readonly [status: number, LinkPage]>> = {
  confirmed: [200, "contactConfirmed"],
  kept: [200, "contactKept"],
  blocked: [403, "linkBlocked"],
  "not-signed-in": [403, "enterCodeToConfirm"],
  taken: [409, "contactTaken"],
  ended: [410, "linkEnded"],
  unknown: [404, "linkUnknown"],
};

/** Builds the page that shows what the link has done. */
export function usedLinkPage(result: LinkOutcome, pages: Pages, headers: IncomingHttpHeaders): Page {
  const [status, name] = used[result.outcome];
  if (result.outcome === "unknown") return linkPage(pages.textsFor(headers), status, name);
  const texts = textsFor([result.account.locale]);
  if (result.outcome !== "not-signed-in") return linkPage(texts, status, name);
  return linkPage(texts, status, name, { address: hintOf(result.address), account: labelOf(result.account) });
}

/** The page as a route answers it. */
export function pageResponse(page: Page, pages: Pages): HttpResponse {
  const { text, policy } = pages.write(page);
  return bytes(Buffer.from(text), pageType, { status: page.status, cache: "no-store", headers: policy });
}
