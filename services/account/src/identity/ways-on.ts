import { labelOf } from "../accounts/contact.ts";
import { type Exchange, html, type Page } from "../pages/page.ts";
import { fill, type Texts } from "../texts/texts.ts";
import { signedInPerson } from "./home-page.ts";
import type { IdentityService } from "./identity-service.ts";
import { guarded, type SignInForm } from "./sign-in-pages.ts";
import { readState } from "./state/state-store.ts";

/** The request of an application that a page can lead back to. */
interface Asked {
  readonly application: string;
  /** The address that begins the sign-in again. */
  readonly url: string;
}

/**
 * Adds the ways on of a sign-in that cannot go on: with another address, or back to the application, which is told
 * `access_denied` (RFC 6749 §4.1.2.1).
 */
export function withOtherAddress(page: Page, form: SignInForm): Page {
  const { code, waysOn } = page.texts.pages;
  const content = html`${page.content}
<div class="buttons">
<form method="post" action="${form.action}">
${guarded(form, "restart")}
<button type="submit" class="main">${code.restart}</button>
</form>
<form method="post" action="${form.action}">
${guarded(form, "cancel")}
<button type="submit">${fill(waysOn.cancel, { application: form.application })}</button>
</form>
</div>`;
  return { ...page, content, formTargets: form.formTargets };
}

/**
 * The page of a sign-in that has ended, was begun in another browser, or needs cookies. It leads back to the request of
 * the application while that is known, and on, for a person who is signed in.
 */
export async function lostPage(service: IdentityService, exchange: Exchange, texts: Texts, uid: string): Promise<Page> {
  const { title, text } = texts.pages.lost;
  const who = await signedInPerson(service, exchange);
  const asked = await askedBy(service, uid);
  const { invitation, waysOn } = texts.pages;
  const signedIn = who && html`<p>${fill(invitation.signedInAs, { account: labelOf(who.account) })}</p>`;
  const page = { status: 400, texts, title, content: signedIn ?? html`<p>${text}</p>` };
  if (asked === null) return page;
  const goOn = who === null ? waysOn.again : fill(waysOn.goOn, { application: asked.application });
  return { ...page, next: { url: asked.url, text: goOn } };
}

/** Rebuilds the request of a sign-in; null for one that nobody keeps any more, or that began without a browser. */
async function askedBy(service: IdentityService, uid: string): Promise<Asked | null> {
  const { params } = ((await readState(service, "Interaction", uid)) ?? {}) as { params?: Record<string, unknown> };
  if (typeof params?.redirect_uri !== "string") return null;
  const client = await service.providers.current().Client.find(String(params.client_id));
  if (!client) return null;
  const given = Object.entries(params).filter(([, value]) => typeof value === "string") as [string, string][];
  const url = `${service.settings.address.issuer}/authorize?${new URLSearchParams(given)}`;
  return { application: client.clientName ?? client.clientId, url };
}
