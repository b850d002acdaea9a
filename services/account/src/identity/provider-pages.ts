import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { formTargetOf, Html, html, type Page } from "../pages/page.ts";
import { brandOf, textsForReader, writePage } from "../pages/pages.ts";
import { fill, type Texts } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { endEverything, keptApplications, keptParameter } from "./sign-out.ts";

/** Shows an error; the reasons of the protocol are English. */
export function showError(
  service: IdentityService,
  ctx: KoaContextWithOIDC,
  { error, error_description: description }: ErrorOut,
): void {
  const texts = textsOf(service, ctx);
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
  show(service, ctx, { texts, title, content, formTargets: signOutTargets(ctx) });
}

/** Shows a button to a person who is already signed out, in place of the provider's script. */
export function continueSignedOut(service: IdentityService, ctx: KoaContextWithOIDC): void {
  const texts = textsOf(service, ctx);
  const { title, continue: goOn } = texts.pages.signedOut;
  const secret = (ctx.oidc.session?.state as { secret?: string } | undefined)?.secret ?? "";
  const content = html`<form method="post" action="${ctx.oidc.urlFor("end_session_confirm")}">
<input type="hidden" name="xsrf" value="${secret}">
<input type="hidden" name="logout" value="yes">
<button type="submit" class="main">${goOn}</button>
</form>`;
  show(service, ctx, { texts, title, content, formTargets: signOutTargets(ctx) });
}

export function showSignedOut(service: IdentityService, ctx: KoaContextWithOIDC): void {
  const texts = textsOf(service, ctx);
  const { title, text, kept } = texts.pages.signedOut;
  const what =
    ctx.query[keptParameter] === undefined
      ? null
      : html`<p>${kept}</p>\n<p><a href="${service.settings.address.path}/sign-ins">${texts.pages.signIns.title}</a></p>`;
  show(service, ctx, { texts, title, content: html`<p>${text}</p>\n${what}` });
}

function show(service: IdentityService, ctx: KoaContextWithOIDC, page: Omit<Page, "status">): void {
  const { text, headers } = writePage(service, { ...page, status: ctx.status });
  ctx.body = text;
  ctx.set(headers);
}

const textsOf = (service: IdentityService, ctx: KoaContextWithOIDC): Texts =>
  textsForReader(service, ctx.headers, ctx.oidc?.params?.ui_locales ?? ctx.query.ui_locales);

function signOutTargets({ oidc }: KoaContextWithOIDC): readonly string[] {
  const target = oidc.params?.post_logout_redirect_uri;
  return typeof target === "string" ? [formTargetOf(target)] : [];
}
