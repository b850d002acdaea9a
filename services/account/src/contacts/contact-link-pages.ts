import type { IncomingHttpHeaders, RequestListener } from "node:http";
import type { Clock } from "@signalbox/core";
import { bytes, createRoutes, type HttpResponse, type Routes } from "@signalbox/http";
import { inTransaction } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import { hintOf } from "../codes/code-answers.ts";
import { createLinkListener, type LinkParts } from "../identity/link-listener.ts";
import { Html, html, type Page, pageType } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { Accounts } from "../profile/accounts.ts";
import type { Configured } from "../properties.ts";
import { fill, type Texts, textsFor } from "../texts/texts.ts";
import { type ContactLink, confirmationPath, isOpen } from "./contact-link.ts";
import type { ContactLinks, LinkOutcome } from "./contact-links.ts";

export interface ContactLinkRoutes {
  readonly accounts: Pick<Accounts, "find">;
  readonly contactLinks: ContactLinks;
  readonly pages: Pages;
  readonly clock: Clock;
}

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
export function contactLinkRoutes({ accounts, contactLinks, pages, clock }: ContactLinkRoutes): Routes {
  const routes = createRoutes({ errors: "account", exampleIds: { token: "6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2" } });

  routes.get("/api/account/contact-links/:token", {
    operationId: "contactLink",
    summary: "The page behind a link from a mail about the contact address",
    description: "A page that says what the link does. Opening it changes nothing.",
    auth: "anonymous",
    responses: pageAnswers,
    cache: "no-store",
    async handle({ params, headers }) {
      const link = await contactLinks.find(params.token);
      const account = link && (await accounts.find(link.accountId));
      const asks = link?.kind === "confirm" ? "enterCodeToConfirm" : "objectToContact";
      const reading = { now: clock.now(), pages, headers };
      return pageResponse(lookedAtPage({ link, account, asks }, reading), pages);
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
        contactLinks.use(tx, params.token, { address, requestId, signedInTo: null }),
      answer: (result, { headers }) => pageResponse(usedLinkPage(result, pages, headers), pages),
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
function lookedAtPage(
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
function usedLinkPage(result: LinkOutcome, pages: Pages, headers: IncomingHttpHeaders): Page {
  const [status, name] = used[result.outcome];
  if (result.outcome === "unknown") return linkPage(pages.textsFor(headers), status, name);
  const texts = textsFor([result.account.locale]);
  if (result.outcome !== "not-signed-in") return linkPage(texts, status, name);
  return linkPage(texts, status, name, { address: hintOf(result.address), account: labelOf(result.account) });
}

/** The page as a route answers it. */
function pageResponse(page: Page, pages: Pages): HttpResponse {
  const { text, policy } = pages.write(page);
  return bytes(Buffer.from(text), pageType, { status: page.status, cache: "no-store", headers: policy });
}

interface Dependencies extends LinkParts {
  readonly contactLinks: ContactLinks;
}

/**
 * The pages behind links that confirm a contact address. A mailbox may be asked to confirm another person's change, so
 * the button confirms only in a browser that is signed in to the account that asked. In any other browser the page
 * names that account, and its button leads to a sign-in.
 */
export function createContactLinkListener(context: Configured, dependencies: Dependencies): RequestListener {
  const { pool, accountStore, contactLinks, issuer, pages } = dependencies;
  return createLinkListener(context, {
    path: confirmationPath,
    issuer,
    pages,
    async show({ token, signedInTo, headers }) {
      const link = await contactLinks.find(token);
      const account = link?.kind === "confirm" ? await accountStore.find(link.accountId) : null;
      const asks = signedInTo !== null && signedInTo === account?.id ? "confirmContact" : "signInToConfirm";
      return lookedAtPage({ link, account, asks }, { now: context.clock.now(), pages, headers });
    },
    async use({ token, signedInTo, headers, from }) {
      const result = await inTransaction(pool, (tx) => contactLinks.use(tx, token, { ...from, signedInTo }));
      if (result.outcome !== "not-signed-in") return usedLinkPage(result, pages, headers);
      return { location: issuer.signInUrl({ folder: "contact-links", token }) };
    },
  });
}
