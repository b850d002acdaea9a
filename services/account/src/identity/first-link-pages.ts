import type { RequestListener } from "node:http";
import { labelOf } from "../accounts/contact.ts";
import { firstLinkPath } from "../first-link/first-link.ts";
import type { FirstLinks } from "../first-link/first-links.ts";
import { html, type Page } from "../pages/page.ts";
import type { Configured } from "../properties.ts";
import { fill } from "../texts/texts.ts";
import { createLinkListener, homeLink, type LinkParts, type OpenedLink } from "./link-listener.ts";
import { firstLinkEndedPage } from "./sign-in-pages.ts";

interface Dependencies extends Pick<LinkParts, "issuer" | "pages"> {
  readonly firstLinks: Pick<FirstLinks, "find">;
}

/**
 * The pages behind a first link. Opening one leads to the sign-in pages, which ask for a name and an address, or for a
 * passkey, and uses nothing up.
 */
export function createFirstLinkListener(context: Configured, dependencies: Dependencies): RequestListener {
  const { issuer, pages } = dependencies;
  const open = (link: OpenedLink) => openPage(link, dependencies);
  return createLinkListener(context, { path: firstLinkPath, issuer, pages, show: open, use: open });
}

async function openPage(
  { token, signedInTo, headers }: OpenedLink,
  { firstLinks, issuer, pages }: Dependencies,
): Promise<Page | { readonly location: string }> {
  const texts = pages.textsFor(headers);
  const found = await firstLinks.find(token);
  if (found?.isOpen) return { location: issuer.signInUrl({ folder: "first-link", token }) };
  if (found && found.account.id === signedInTo) {
    const { title, text, textByPasskey } = texts.pages.firstLinkUsed;
    const used = found.account.contactAddressVerified ? text : textByPasskey;
    const content = html`<p>${fill(used, { account: labelOf(found.account) })}</p>\n${homeLink(texts)}`;
    return { status: 200, texts, title, content };
  }
  return firstLinkEndedPage(texts, found ? 410 : 404);
}
