import { bytes, createRoutes, type HttpResponse, type Routes } from "@signalbox/http";
import type { Account } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import { hintOf } from "../codes/code-answers.ts";
import type { AccountService } from "../context/account-service.ts";
import { Html, html, type Page, pageType, textsForReader, writePage } from "../pages/page.ts";
import { fill, type Texts, textsFor } from "../texts/texts.ts";
import { type ContactLink, isOpen } from "./contact-link.ts";
import { findLinkByToken, type LinkOutcome, useContactLink } from "./contact-links.ts";

const pageAnswer = {
  content: ["text/html"],
  example: "<!doctype html><title>Keep the previous contact address</title>",
} as const;
const pageAnswers = { 200: pageAnswer, 404: pageAnswer, 410: pageAnswer };

/**
 * The pages behind the links in mails, over REST alone: readers of mails have a browser. Following a link changes
 * nothing, because mail scanners follow links too; the button does it. These routes have no session, so they confirm
 * nothing.
 */
export function contactLinkRoutes(service: AccountService): Routes {
  const routes = createRoutes({ errors: "account", exampleIds: { token: "6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2" } });

  routes.get("/api/account/contact-links/:token", {
    operationId: "contactLink",
    summary: "Show the page for a link in a contact address mail",
    description: "The page explains what the link does. Opening it changes nothing.",
    auth: "anonymous",
    responses: pageAnswers,
    cache: "no-store",
    async handle({ params, headers }) {
      const link = await findLinkByToken(service, params.token);
      const account = link && (await service.accountStore.find(link.accountId));
      const asks = link?.kind === "confirm" ? "enterCodeToConfirm" : "objectToContact";
      return pageResponse(service, lookedAtPage(service, { link, account, asks }, textsForReader(service, headers)));
    },
  });

  routes.post("/api/account/contact-links/:token", {
    operationId: "followContactLink",
    summary: "Use the link: object to the change",
    description: "Restores the former contact address. The link works once.",
    auth: "anonymous",
    audit: ["account.contact_confirm", "account.contact_object", "account.activate"],
    responses: { ...pageAnswers, 403: pageAnswer },
    create: {
      run: (tx, { params, clientAddress: address, requestId }) =>
        useContactLink(service, tx, params.token, { address, requestId, signedInTo: null }),
      answer: (result, { headers }) => pageResponse(service, usedLinkPage(result, textsForReader(service, headers))),
    },
  });

  return routes;
}

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
  service: AccountService,
  { link, account, asks }: { link: ContactLink | null; account: Account | null; asks: LinkPage },
  ofReader: Texts,
): Page {
  if (!link || !account) return linkPage(ofReader, 404, "linkUnknown");
  const texts = textsFor([account.locale]);
  if (!isOpen(link, service.clock.now())) return linkPage(texts, 410, "linkEnded");
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
export function usedLinkPage(result: LinkOutcome, ofReader: Texts): Page {
  const [status, name] = used[result.outcome];
  if (result.outcome === "unknown") return linkPage(ofReader, status, name);
  const texts = textsFor([result.account.locale]);
  if (result.outcome !== "not-signed-in") return linkPage(texts, status, name);
  return linkPage(texts, status, name, { address: hintOf(result.address), account: labelOf(result.account) });
}

function pageResponse(service: AccountService, page: Page): HttpResponse {
  const { text, policy } = writePage(service, page);
  return bytes(Buffer.from(text), pageType, { status: page.status, cache: "no-store", headers: policy });
}
