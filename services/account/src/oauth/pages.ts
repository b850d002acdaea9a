import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { formTargetOf, Html, html, type Page, pageHeaders, pageText } from "../pages/page.ts";

/** The part that every form of a sign-in has: where it goes, and the guard that shows it came from this very page. */
export interface SignInForm {
  readonly action: string;
  readonly guard: string;
  readonly application: string;
  /** Where the browser goes when the sign-in is over. */
  readonly formTargets: readonly string[];
}

const guarded = ({ guard }: SignInForm, step: string): Html => html`<input type="hidden" name="guard" value="${guard}">
<input type="hidden" name="step" value="${step}">`;

const problemAbove = (problem: string | null): Html | null =>
  problem === null ? null : html`<p class="problem" id="problem" role="alert">${problem}</p>`;

/** Names the texts that describe the field, the problem first. */
const describedBy = (problem: string | null): Html =>
  problem === null ? html`aria-describedby="hint"` : html`aria-describedby="problem hint" aria-invalid="true"`;

/** Step one asks for the address. */
export function addressPage(form: SignInForm, typed: string, problem: string | null): Page {
  return {
    status: problem === null ? 200 : 422,
    title: "Sign in",
    formTargets: form.formTargets,
    content: html`<p>to continue to ${form.application}</p>
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "address")}
<label for="address">E-mail address</label>
<p class="hint" id="hint">We will send a code to this address.</p>
<input id="address" name="address" type="email" value="${typed}" maxlength="254" autocomplete="email" autocapitalize="none"
 spellcheck="false" required autofocus ${describedBy(problem)}>
<button type="submit">Send me a code</button>
</form>`,
  };
}

/** Step two asks for the code. Nothing here tells whether there is an account. */
export function codePage(form: SignInForm, typed: string, problem: string | null): Page {
  return {
    status: problem === null ? 200 : 422,
    title: "Enter your code",
    formTargets: form.formTargets,
    content: html`<p>to continue to ${form.application}</p>
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "code")}
<label for="code">Code</label>
<p class="hint" id="hint">We sent it to ${typed}. It works for ten minutes.</p>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required
 autofocus ${describedBy(problem)}>
<button type="submit">Sign in</button>
</form>
<h2>No e-mail?</h2>
<p>Check your spam folder. We send at most five codes an hour.</p>
<form method="post" action="${form.action}">
${guarded(form, "resend")}
<button type="submit">Send another code</button>
</form>
<form method="post" action="${form.action}">
${guarded(form, "restart")}
<button type="submit">Use another address</button>
</form>`,
  };
}

/** Only after the code: whoever sees this has the mailbox of the account. */
export const deletedPage: Page = {
  status: 403,
  title: "You cannot sign in",
  content: html`<p>This account was deleted.</p>`,
};

/** The sign-in is over, was begun in another browser, or cookies are switched off. */
export const lostPage: Page = {
  status: 400,
  title: "This sign-in has expired",
  content: html`<p>Go back to the application and start again. Your browser has to accept cookies to sign in.</p>`,
};

/** Something about the request that no page of ours sends. */
export const refusedPage: Page = {
  status: 400,
  title: "This did not work",
  content: html`<p>Go back to the application and start again.</p>`,
};

/** The browser, or those who share its network, asked too often. */
export const tooManyPage: Page = {
  status: 429,
  title: "Too many requests",
  content: html`<p>Too many requests came from your network. Wait a minute and try again.</p>`,
};

/** Something of ours is away or broken; what was typed is not lost. */
export const failedPage = (status: number): Page => ({
  status,
  title: "This did not work",
  content: html`<p>Something went wrong on our side. Go back and try again in a moment.</p>`,
});

/** Shows what went wrong, in the words of the protocol and no others. */
export function showError(ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): void {
  const isOurs = error === "server_error";
  const reason = isOurs ? "Something went wrong on our side. Try again in a moment." : description;
  show(
    ctx,
    "This did not work",
    html`<p>${reason ?? "The application asked for something that is not possible."}</p>
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

/** Shows a button to somebody who is signed out already, in place of the script by which the provider would go on. */
export function continueSignedOut(ctx: KoaContextWithOIDC): void {
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

export function showSignedOut(ctx: KoaContextWithOIDC): void {
  show(ctx, "You are signed out", html`<p>You can close this page.</p>`);
}

function signOutTargets({ oidc }: KoaContextWithOIDC): readonly string[] {
  const target = oidc.params?.post_logout_redirect_uri;
  return typeof target === "string" ? [formTargetOf(target)] : [];
}

function show(ctx: KoaContextWithOIDC, title: string, content: Html, formTargets: readonly string[] = []): void {
  ctx.body = pageText({ status: ctx.status, title, content });
  ctx.set(pageHeaders(formTargets));
}
