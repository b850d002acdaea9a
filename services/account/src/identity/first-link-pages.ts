import type { RequestListener } from "node:http";
import { labelOf } from "../accounts/contact.ts";
import { firstLinkPath } from "../first-link/first-link.ts";
import { lookUpFirstLink } from "../first-link/first-links.ts";
import { html, type Page } from "../pages/page.ts";
import { fill } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { signInUrl } from "./issuer-settings.ts";
import { linkListener, type OpenedLink } from "./link-listener.ts";
import { firstLinkEndedPage } from "./sign-in-pages.ts";

/**
 * The pages behind a first link. Opening one leads to the sign-in pages, which ask for a name and an address, or for a
 * passkey, and uses nothing up.
 */
export function firstLinkListener(service: IdentityService): RequestListener {
  const open = (link: OpenedLink) => openPage(service, link);
  return linkListener(service, { path: firstLinkPath, show: open, use: open });
}

async function openPage(
  service: IdentityService,
  { token, signedInTo, texts }: OpenedLink,
): Promise<Page | { readonly location: string }> {
  const found = await lookUpFirstLink(service, token);
  if (found?.isOpen) return { location: signInUrl(service.settings.address.issuer, { folder: "first-link", token }) };
  if (found && found.account.id === signedInTo) {
    const { title, text, textByPasskey } = texts.pages.firstLinkUsed;
    const used = found.account.contactAddressVerified ? text : textByPasskey;
    const content = html`<p>${fill(used, { account: labelOf(found.account) })}</p>`;
    return { status: 200, texts, title, content };
  }
  return firstLinkEndedPage(texts, found ? 410 : 404);
}
