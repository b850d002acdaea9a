import type { RequestListener } from "node:http";
import { inTransaction } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import { hintOf } from "../codes/code-answers.ts";
import { type Invitation, invitationsPath, isFor } from "../invitations/invitation.ts";
import { type AcceptOutcome, acceptInvitation, findInvitationOfLink } from "../invitations/invitation-acceptance.ts";
import { brandOf, type Html, html, type Page } from "../pages/page.ts";
import { fill, type Texts, timeIn } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { signInUrl } from "./issuer-settings.ts";
import { linkListener, type OpenedLink, type SentForm } from "./link-listener.ts";
import { linkNotePage } from "./sign-in-pages.ts";

/**
 * The pages of invitations. Opening one changes nothing: the reader sees who invites to what, and accepts by a button.
 * A browser without a session signs in first, or registers by the same code; one with a session is asked whether its
 * account accepts.
 */
export function invitationListener(service: IdentityService): RequestListener {
  return linkListener(service, {
    path: invitationsPath,
    show: (link) => shownPage(service, link),
    use: (form) => use(service, form),
  });
}

async function shownPage(service: IdentityService, { token, signedInTo, texts }: OpenedLink): Promise<Page> {
  const found = await findInvitationOfLink(service, token);
  if (!found) return linkNotePage(texts, 404, "linkUnknown");
  const { invitation, inviter, isOpen } = found;
  const account = signedInTo === null ? null : await service.accountStore.find(signedInTo);
  if (account && invitation.acceptedBy === account.id) return acceptedPage(texts, account);
  if (!isOpen) return endedPage(texts, inviter);
  const about = aboutInvitation(texts, invitation, inviter, brandOf(service).name);
  const { title } = texts.pages.invitation;
  return { status: 200, texts, title, content: html`${about}\n${choices(texts, invitation, account)}` };
}

function aboutInvitation(texts: Texts, invitation: Invitation, inviter: Account, server: string): Html {
  const { text, member, role, until } = texts.pages.invitation;
  const names = { inviter: labelOf(inviter), server };
  const brought = invitation.memberRole ?? invitation.role;
  return html`<p>${fill(invitation.memberRole === null ? text : member, names)}</p>
<p>${fill(role, { role: brought })}</p>
<p>${fill(until, { until: timeIn(texts, invitation.expiresAt, "UTC") })}</p>`;
}

/** The buttons: a session of another account never accepts before its holder was asked. */
function choices(texts: Texts, invitation: Invitation, account: Account | null): Html {
  const { accept, signedInAs, acceptAs, another, otherAddress } = texts.pages.invitation;
  if (account === null) return form(html``, "sign-in", accept, true);
  const shown = labelOf(account);
  const who = html`<p>${fill(signedInAs, { account: shown })}</p>`;
  const change = form(html``, "sign-in", another, false);
  if (!isFor(invitation, account)) {
    return html`${who}\n<p>${fill(otherAddress, { address: hintOf(invitation.address ?? "") })}</p>\n${change}`;
  }
  const accepting = html`<input type="hidden" name="account" value="${account.id}">`;
  return html`${who}\n${form(accepting, "accept", fill(acceptAs, { account: shown }), true)}\n${change}`;
}

/** A form of one button, which posts to the page's own address. */
const form = (fields: Html, step: string, text: string, isMain: boolean): Html =>
  html`<form method="post" action="?">${fields}<input type="hidden" name="step" value="${step}">
<button type="submit"${isMain ? html` class="main"` : null}>${text}</button></form>`;

const refusals: Readonly<
  Record<Exclude<AcceptOutcome["outcome"], "accepted">, readonly [number, "linkUnknown" | "linkEnded" | "linkBlocked"]>
> = {
  blocked: [403, "linkBlocked"],
  "other-address": [403, "linkBlocked"],
  ended: [410, "linkEnded"],
  unknown: [404, "linkUnknown"],
};

async function use(service: IdentityService, { fields, from, ...link }: SentForm) {
  const { settings, pool, accountStore } = service;
  const { token, signedInTo, texts } = link;
  const step = fields.get("step");
  if (step === "sign-in") {
    const found = await findInvitationOfLink(service, token);
    if (!found?.isOpen) return shownPage(service, link);
    const { address } = found.invitation;
    return { location: signInUrl(settings.address.issuer, { folder: "invitations", token, address }) };
  }
  // The session may have become another one since the page was shown: its reader is asked again.
  if (step !== "accept" || signedInTo === null || fields.get("account") !== signedInTo) {
    return shownPage(service, link);
  }
  const accepting = { accountId: signedInTo, ...from };
  const { outcome } = await inTransaction(pool, (tx) => acceptInvitation(service, tx, token, accepting));
  if (outcome !== "accepted") return linkNotePage(texts, ...refusals[outcome]);
  const account = await accountStore.find(signedInTo);
  return account ? acceptedPage(texts, account) : linkNotePage(texts, 404, "linkUnknown");
}

function endedPage(texts: Texts, inviter: Account): Page {
  const page = linkNotePage(texts, 410, "linkEnded");
  const ask = fill(texts.pages.invitation.askAgain, { inviter: labelOf(inviter) });
  return { ...page, content: html`${page.content}\n<p>${ask}</p>` };
}

function acceptedPage(texts: Texts, account: Account): Page {
  const { title, text } = texts.pages.invitationAccepted;
  const content = html`<p>${fill(text, { account: labelOf(account) })}</p>`;
  return { status: 200, texts, title, content };
}
