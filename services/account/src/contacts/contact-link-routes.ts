import type { Clock } from "@signalbox/core";
import { createRoutes, type RouteInput } from "@signalbox/http";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit.ts";
import type { ConfirmContactByLinkVerb } from "./confirm-contact-by-link.ts";
import { type ContactLink, digestLinkToken, hintOf, isOpen } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";
import { linkPage } from "./link-page.ts";
import { linkPageTexts } from "./link-page-texts.ts";
import type { ObjectToContactChangeVerb } from "./object-to-contact-change.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly confirmContactByLink: ConfirmContactByLinkVerb;
  readonly objectToContactChange: ObjectToContactChangeVerb;
  readonly clock: Clock;
}

const page = { content: ["text/html"] } as const;
const responses = { 200: page, 403: page, 404: page, 410: page };

type Input = RouteInput<null, { readonly token: string }>;

/**
 * The pages behind the links in mails. Following a link shows what it would do and changes nothing, since scanners of
 * mail follow links too; its button does it.
 */
export function contactLinkRoutes(dependencies: Dependencies) {
  const { accounts, contactLinks, confirmContactByLink, objectToContactChange, clock } = dependencies;
  const routes = createRoutes({ errors: "account" });

  routes.get("/api/account/contact-links/:token", {
    summary: "The page behind a link from a mail about the contact address",
    auth: "anonymous",
    responses,
    cache: "no-store",
    async handle({ params }) {
      const { link, account, language, texts } = await find(params.token);
      if (!link || !account) return linkPage(404, language, texts.unknown);
      if (!isOpen(link, link.kind, clock.now())) return linkPage(410, language, texts.ended);
      return linkPage(200, language, texts[link.kind](hintOf(link.address)));
    },
  });

  routes.post("/api/account/contact-links/:token", {
    summary: "Do what the link is for: confirm the address, or object to the change",
    auth: "anonymous",
    responses,
    async handle(input) {
      const { link, account, language, texts } = await find(input.params.token);
      if (!link || !account) return linkPage(404, language, texts.unknown);
      const result = await act(input, link);
      switch (result.outcome) {
        case "confirmed":
        case "kept":
          return linkPage(200, language, texts[result.outcome]);
        case "blocked":
          return linkPage(403, language, texts.blocked);
        case "ended":
          return linkPage(410, language, texts.ended);
      }
    },
  });

  return routes;

  async function find(token: string) {
    const link = await contactLinks.find(digestLinkToken(token));
    const account = link && (await accounts.find(link.accountId));
    return { link, account, ...linkPageTexts(account?.locale ?? "en") };
  }

  function act(input: Input, { kind }: ContactLink) {
    const { token } = input.params;
    const by = (accountId: string): Actor => ({
      kind: "owner",
      accountId,
      credential: "contact-link",
      address: input.clientAddress,
      requestId: input.requestId,
    });
    return kind === "confirm" ? confirmContactByLink({ token, by }) : objectToContactChange({ token, by });
  }
}
