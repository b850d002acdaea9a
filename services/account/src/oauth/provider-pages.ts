import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { formTargetOf, Html, html, pageHeaders, pageText } from "../pages/page.ts";

/** The pages that the provider asks for: a refusal, and the two of a sign-out. */

function show(ctx: KoaContextWithOIDC, title: string, content: Html, formTargets: readonly string[] = []): void {
  ctx.body = pageText({ status: ctx.status, title, content });
  ctx.set(pageHeaders(formTargets));
}

/** What went wrong, in the words of the protocol and no others. */
export function showError(ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): void {
  const isOurs = error === "server_error";
  const reason = isOurs ? "Something went wrong on our side. Try again in a moment." : description;
  show(
    ctx,
    "This did not work",
    html`<p>${reason ?? "The application has asked for something that is not possible."}</p>
<p>Go back to the application and start again.</p>
<p>Code: <code>${error}</code></p>`,
  );
}

/** Asks before it signs somebody out. `form` is the provider's, with its guard against forged requests. */
export function askSignOut(ctx: KoaContextWithOIDC, form: string): void {
  show(
    ctx,
    "Sign out?",
    html`<p>You are signed in to Signalbox in this browser.</p>
${new Html(form)}
<p><button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button type="submit" form="op.logoutForm">Stay signed in</button></p>`,
    signOutTargets(ctx),
  );
}

/** Of who is signed out already, with a button in place of the script by which the provider would go on. */
export function goOnSignedOut(ctx: KoaContextWithOIDC): void {
  const secret = (ctx.oidc.session?.state as { secret?: string } | undefined)?.secret ?? "";
  show(
    ctx,
    "You are signed out",
    html`<form method="post" action="${ctx.oidc.urlFor("end_session_confirm")}">
<input type="hidden" name="xsrf" value="${secret}">
<input type="hidden" name="logout" value="yes">
<p><button type="submit">Continue</button></p>
</form>`,
    signOutTargets(ctx),
  );
}

function signOutTargets({ oidc }: KoaContextWithOIDC): readonly string[] {
  const target = oidc.params?.post_logout_redirect_uri;
  return typeof target === "string" ? [formTargetOf(target)] : [];
}

export function showSignedOut(ctx: KoaContextWithOIDC): void {
  show(ctx, "You are signed out", html`<p>You can close this page.</p>`);
}
