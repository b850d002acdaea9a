import type { RequestListener } from "node:http";
import { inTransaction } from "@signalbox/storage";
import { confirmationPath } from "../contacts/contact-link.ts";
import { lookedAtPage, usedLinkPage } from "../contacts/contact-link-pages.ts";
import { findLinkByToken, useContactLink } from "../contacts/contact-links.ts";
import type { IdentityService } from "./identity-service.ts";
import { signInUrl } from "./issuer-settings.ts";
import { linkListener } from "./link-listener.ts";

/**
 * The pages behind links that confirm a contact address. A mailbox may be asked to confirm another person's change, so
 * the button confirms only in a browser that is signed in to the account that asked. In any other browser the page
 * names that account, and its button leads to a sign-in.
 */
export function contactLinkListener(service: IdentityService): RequestListener {
  const { accountStore, pool, settings } = service;
  return linkListener(service, {
    path: confirmationPath,
    async show({ token, signedInTo, texts }) {
      const link = await findLinkByToken(service, token);
      const account = link?.kind === "confirm" ? await accountStore.find(link.accountId) : null;
      const asks = signedInTo !== null && signedInTo === account?.id ? "confirmContact" : "signInToConfirm";
      return lookedAtPage(service, { link, account, asks }, texts);
    },
    async use({ token, signedInTo, texts, from }) {
      const user = { ...from, signedInTo };
      const result = await inTransaction(pool, (tx) => useContactLink(service, tx, token, user));
      if (result.outcome !== "not-signed-in") return usedLinkPage(result, texts);
      return { location: signInUrl(settings.address.issuer, { folder: "contact-links", token }) };
    },
  });
}
