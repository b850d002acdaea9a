import type { Clock } from "@signalbox/core";
import { createRoutes } from "@signalbox/http";
import type { AccountStore } from "../accounts/account-store.ts";
import type { ContactChanges } from "./contact-changes.ts";
import { digestLinkToken, hintOf, isOpen, labelOf } from "./contact-link.ts";
import { linkPage, linkPageTexts, pageResponse, usedLinkPage } from "./contact-link-pages.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly contactChanges: Pick<ContactChanges, "useLink">;
  readonly clock: Clock;
}

const page = {
  content: ["text/html"],
  example: "<!doctype html><title>Keep the previous contact address</title>",
} as const;
const responses = { 200: page, 403: page, 404: page, 409: page, 410: page };

/**
 * The pages behind the links in mails. Following a link shows what it would do and changes nothing, since scanners of
 * mail follow links too; its button does it. Nobody is signed in here, so nothing is confirmed here either.
 */
export function contactLinkRoutes({ accounts, contactLinks, contactChanges, clock }: Dependencies) {
  const routes = createRoutes({ errors: "account", exampleIds: { token: "6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2" } });

  routes.get("/api/account/contact-links/:token", {
    operationId: "contactLink",
    summary: "The page behind a link from a mail about the contact address",
    auth: "anonymous",
    responses,
    cache: "no-store",
    async handle({ params }) {
      const link = await contactLinks.find(digestLinkToken(params.token));
      const account = link && (await accounts.find(link.accountId));
      const { language, texts } = linkPageTexts(account?.locale ?? "en");
      if (!link || !account) return pageResponse(linkPage(404, language, texts.unknown));
      if (!isOpen(link, clock.now())) return pageResponse(linkPage(410, language, texts.ended));
      const text = link.kind === "confirm" ? texts.enterCode : texts.object;
      return pageResponse(linkPage(200, language, text(hintOf(link.address), labelOf(account))));
    },
  });

  routes.post("/api/account/contact-links/:token", {
    operationId: "followContactLink",
    summary: "Use the link: object to the change",
    description: "A link that confirms does nothing here: it wants a sign-in to the account that asked.",
    auth: "anonymous",
    audit: ["account.contact_confirm", "account.contact_object", "account.activate"],
    responses,
    create: {
      run: (tx, { params, clientAddress: address, requestId }) =>
        contactChanges.useLink(tx, params.token, { address, requestId, signedInTo: null }),
      answer: (result) => pageResponse(usedLinkPage(result)),
    },
  });

  return routes;
}
