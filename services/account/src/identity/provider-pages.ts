import { type ErrorOut, errors, type KoaContextWithOIDC } from "oidc-provider";
import { labelOf } from "../accounts/contact.ts";
import { brandOf, formTargetOf, Html, html, type Page, textsForReader, writePage } from "../pages/page.ts";
import { fill, type Texts } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { endEverything, keptApplications, keptParameter } from "./sign-out.ts";
import { lostPage } from "./ways-on.ts";

/** Shows an error; the reasons of the protocol are English. */
export async function showError(
  service: IdentityService,
  ctx: KoaContextWithOIDC,
  { error, error_description: description }: ErrorOut,
  cause: Error,
): Promise<void> {
  const texts = textsOf(service, ctx);
  if (cause instanceof errors.SessionNotFound) {
    const uid = String(ctx.params?.uid ?? "");
    return showPage(service, ctx, await lostPage(service, { request: ctx.req, response: ctx.res }, texts, uid));
  }
  const { title, restart, retry, impossible, code } = texts.pages.failed;
  const inEnglish = description === undefined ? null : html`<p lang="en">${description}</p>`;
  const reason = error === "server_error" ? html`<p>${retry}</p>` : (inEnglish ?? html`<p>${impossible}</p>`);
  const content = html`${reason}
<p>${restart}</p>
<p>${code} <code>${error}</code></p>`;
  show(service, ctx, { texts, title, content });
}

/**
 * Asks for confirmation before a sign-out, and whether the applications that keep access shall lose it. `form` is
 * the provider's, with its CSRF token.
 */
export async function askSignOut(service: IdentityService, ctx: KoaContextWithOIDC, form: string): Promise<void> {
  const texts = textsOf(service, ctx);
  const { title, text, keeps, yes, all, no } = texts.pages.signOut;
  const kept = await keptApplications(ctx);
  const applications = new Intl.ListFormat(texts.locale).format(kept);
  const what = kept.length === 0 ? null : html`<p>${fill(keeps, { applications })}</p>`;
  const whole = html`<button type="submit" form="op.logoutForm" name="logout" value="${endEverything}">${all}</button>`;
  const content = html`<p>${fill(text, { server: brandOf(service).name })}</p>
${what}
${new Html(form)}
<div class="buttons">
<button type="submit" form="op.logoutForm" name="logout" value="yes" class="main">${yes}</button>
${kept.length === 0 ? null : whole}
<button type="submit" form="op.logoutForm">${no}</button>
</div>`;
  show(service, ctx, { texts, title, content, formTargets: targetsOf(ctx) });
}

/** The form of a page of the provider: its address and its hidden fields, both written as markup. */
const providerForm =
  /<form method="post" action="([^"]*)">\s*((?:<input type="hidden" name="[^"]*" value="[^"]*"\/>\s*)*)/;

/**
 * Replaces a page of the provider, which only posts its form by script, by one of ours with a button: it ends a session
 * that nobody is signed in to, or that of another person who has signed in since this sign-in began.
 *
 * @throws Error for a page without a form
 */
export async function replaceProviderPage(service: IdentityService, ctx: KoaContextWithOIDC): Promise<void> {
  const [, action, fields] = providerForm.exec(String(ctx.body)) ?? [];
  if (action === undefined || fields === undefined) throw new Error("the provider answered with a page of its own");
  const texts = textsOf(service, ctx);
  const accountId = ctx.oidc.session?.accountId;
  const other = accountId === undefined ? null : await service.accountStore.find(accountId);
  const form = (text: string) => html`<form method="post" action="${new Html(action)}">
${new Html(fields)}<button type="submit" class="main">${text}</button>
</form>`;
  if (!other) {
    const { title, continue: goOn } = texts.pages.signedOut;
    return show(service, ctx, { texts, title, content: form(goOn), formTargets: targetsOf(ctx) });
  }
  const account = labelOf(other);
  const { title, text, signOut, stay } = texts.pages.otherSession;
  const content = html`<p>${fill(text, { account })}</p>
${form(fill(signOut, { account }))}
<p><a href="${service.settings.address.path}">${fill(stay, { account })}</a></p>`;
  show(service, ctx, { texts, title, content, formTargets: targetsOf(ctx) });
}

/** Submits the only form of its page; without scripts a person presses the button. */
export const submitScript = `"use strict";
document.forms[0].submit();
`;

/** Posts an answer to an application (OAuth 2.0 Form Post Response Mode §2). */
export function showFormPost(
  service: IdentityService,
  ctx: KoaContextWithOIDC,
  redirectUri: string,
  answer: Readonly<Record<string, unknown>>,
): void {
  const texts = textsOf(service, ctx);
  const title = texts.pages.signedOut.continue;
  const fields = Object.entries(answer).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`.text,
  );
  const content = html`<form method="post" action="${redirectUri}">
${new Html(fields.join("\n"))}
<button type="submit" class="main">${title}</button>
</form>`;
  // The application may lead on to another site of its own, which the policy of this page judges too.
  const formTargets = ["https:", formTargetOf(redirectUri)];
  ctx.status = 200;
  show(service, ctx, { texts, title, content, formTargets, script: `${service.settings.address.issuer}/submit.js` });
}

export function showSignedOut(service: IdentityService, ctx: KoaContextWithOIDC): void {
  const texts = textsOf(service, ctx);
  const { title, text, kept } = texts.pages.signedOut;
  const page = { texts, title, content: html`<p>${text}</p>` };
  const next = { url: `${service.settings.address.path}/sign-ins`, text: texts.pages.signIns.title };
  const ofKept = { ...page, content: html`${page.content}\n<p>${kept}</p>`, next };
  show(service, ctx, ctx.query[keptParameter] === undefined ? page : ofKept);
}

/** Answers a request to the provider with a page of ours. */
export function showPage(service: IdentityService, ctx: KoaContextWithOIDC, page: Page): void {
  const { text, headers } = writePage(service, page);
  ctx.state.isOurPage = true;
  ctx.status = page.status;
  ctx.body = text;
  ctx.set(headers);
}

const show = (service: IdentityService, ctx: KoaContextWithOIDC, page: Omit<Page, "status">): void =>
  showPage(service, ctx, { ...page, status: ctx.status });

/** Returns true for a page of the provider's own; the body of a redirect is shown to nobody. */
export const isProviderPage = ({ state, response }: KoaContextWithOIDC): boolean =>
  response.is("html") === "html" && !response.get("Location") && state.isOurPage !== true;

const textsOf = (service: IdentityService, ctx: KoaContextWithOIDC): Texts =>
  textsForReader(service, ctx.headers, ctx.oidc?.params?.ui_locales ?? ctx.query.ui_locales);

/** The addresses of the application that a form of the provider leads back to. */
function targetsOf({ oidc }: KoaContextWithOIDC): readonly string[] {
  const { params, entities } = oidc;
  const targets = [params?.post_logout_redirect_uri, entities.Interaction?.params.redirect_uri];
  return targets.filter((uri) => typeof uri === "string").map(formTargetOf);
}
