import type { Clock } from "@signalbox/core";
import { createRoutes } from "@signalbox/http";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Pages } from "../pages/pages.ts";
import type { ContactChanges } from "./contact-changes.ts";
import { digestLinkToken } from "./contact-link.ts";
import { lookedAtPage, pageResponse, usedLinkPage } from "./contact-link-pages.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly contactChanges: Pick<ContactChanges, "useLink">;
  readonly pages: Pages;
  readonly clock: Clock;
}

const page = {
  content: ["text/html"],
  example: "<!doctype html><title>Keep the previous contact address</title>",
} as const;
const shown = { 200: page, 404: page, 410: page };

/**
 * The pages behind the links in mails. Following a link changes nothing, because mail scanners follow links too; the
 * button does it. These routes have no session, so they confirm nothing.
 */
export function contactLinkRoutes({ accounts, contactLinks, contactChanges, pages, clock }: Dependencies) {
  const routes = createRoutes({ errors: "account", exampleIds: { token: "6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2" } });

  routes.get("/api/account/contact-links/:token", {
    operationId: "contactLink",
    summary: "The page behind a link from a mail about the contact address",
    auth: "anonymous",
    responses: shown,
    cache: "no-store",
    async handle({ params, headers }) {
      const link = await contactLinks.find(digestLinkToken(params.token));
      const account = link && (await accounts.find(link.accountId));
      const asks = link?.kind === "confirm" ? "enterCodeToConfirm" : "objectToContact";
      const reading = { now: clock.now(), pages, headers };
      return pageResponse(lookedAtPage({ link, account, asks }, reading), pages);
    },
  });

  routes.post("/api/account/contact-links/:token", {
    operationId: "followContactLink",
    summary: "Use the link: object to the change",
    auth: "anonymous",
    audit: ["account.contact_confirm", "account.contact_object", "account.activate"],
    responses: { ...shown, 403: page },
    create: {
      run: (tx, { params, clientAddress: address, requestId }) =>
        contactChanges.useLink(tx, params.token, { address, requestId, signedInTo: null }),
      answer: (result, { headers }) => pageResponse(usedLinkPage(result, pages, headers), pages),
    },
  });

  return routes;
}
