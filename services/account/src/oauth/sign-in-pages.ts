import { type Html, html, type Page } from "../pages/page.ts";

/** What every form of a sign-in carries: where it goes, and that it came from this very page. */
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

/** What describes the field, the problem first. */
const describedBy = (problem: string | null): Html =>
  problem === null ? html`aria-describedby="hint"` : html`aria-describedby="problem hint" aria-invalid="true"`;

/** Step one: who is it? */
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
<p class="hint" id="hint">We send a code to this address.</p>
<input id="address" name="address" type="email" value="${typed}" maxlength="254" autocomplete="email" autocapitalize="none"
 spellcheck="false" required autofocus ${describedBy(problem)}>
<button type="submit">Send me a code</button>
</form>`,
  };
}

/** Step two: the code. Nothing here tells whether there is an account. */
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
<p class="hint" id="hint">We have sent it to ${typed}. It works for ten minutes.</p>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required
 autofocus ${describedBy(problem)}>
<button type="submit">Sign in</button>
</form>
<h2>No mail?</h2>
<p>Look into the folder for unwanted mail. After five codes in an hour the next one comes later.</p>
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
  content: html`<p>Go back to the application and start again. Your browser has to accept cookies for this.</p>`,
};

/** Something about the request that no page of ours sends. */
export const refusedPage: Page = {
  status: 400,
  title: "This did not work",
  content: html`<p>Go back to the application and start again.</p>`,
};

/** Something of ours is away or broken; what was typed is not lost. */
export const failedPage = (status: number): Page => ({
  status,
  title: "This did not work",
  content: html`<p>Something went wrong on our side. Go back and try again in a moment.</p>`,
});
