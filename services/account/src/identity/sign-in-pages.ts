import { type Brand, type Html, html, type Page } from "../pages/page.ts";
import type { Deletion } from "../sign-ins/sign-ins.ts";
import { fill, minutesIn, type Texts, timeIn } from "../texts/texts.ts";

/** The common part of every sign-in form: its target, and the CSRF token. */
export interface SignInForm {
  readonly action: string;
  readonly guard: string;
  readonly application: string;
  /** Origins to which the browser returns after the sign-in. */
  readonly formTargets: readonly string[];
  /** True where the first administrator signs in, whose name is asked for too. */
  readonly asksName: boolean;
  /** The ceremony that uses a passkey, or makes the first administrator's; null where browsers allow none. */
  readonly passkey: {
    readonly ceremony: "get" | "create";
    readonly options: string;
    readonly script: string;
  } | null;
}

/** The typed values of the first page. */
export interface TypedPerson {
  readonly address: string;
  readonly name?: string;
}

/** Hidden fields of a form: its CSRF token, and its step. */
export const guarded = (
  { guard }: SignInForm,
  step: string,
): Html => html`<input type="hidden" name="guard" value="${guard}">
<input type="hidden" name="step" value="${step}">`;

const continueTo = ({ application }: SignInForm, { pages }: Texts): Html =>
  html`<p>${fill(pages.signIn.continueTo, { application })}</p>`;

const problemAbove = (problem: string | null): Html | null =>
  problem === null ? null : html`<p class="problem" id="problem" role="alert">${problem}</p>`;

/** Names the texts that describe the field, the problem first. */
const describedBy = (problem: string | null): Html =>
  problem === null ? html`aria-describedby="hint"` : html`aria-describedby="problem hint" aria-invalid="true"`;

/** A form that its script shows: it signs in with a passkey, without an address. */
function passkeyForm({ pages: { passkeys, firstLink } }: Texts, form: SignInForm): Html | null {
  if (form.passkey === null) return null;
  const { ceremony, options } = form.passkey;
  const isNew = ceremony === "create";
  const about = isNew ? html`<h2>${firstLink.orPasskey}</h2>\n<p>${passkeys.text}</p>` : null;
  return html`<form method="post" action="${form.action}" data-passkey="${ceremony}" data-options="${options}" hidden>
${guarded(form, isNew ? "new-passkey" : "passkey")}
<input type="hidden" name="response" value="">
${about}
<p class="problem" role="alert" data-problem hidden>${isNew ? passkeys.notAdded : passkeys.cancelled}</p>
<button type="submit">${isNew ? firstLink.usePasskey : passkeys.signIn}</button>
</form>`;
}

/** Step one asks for the address. */
export function addressPage(texts: Texts, form: SignInForm, typed: TypedPerson, problem: string | null): Page {
  const { signIn } = texts.pages;
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: signIn.title,
    formTargets: form.formTargets,
    content: html`${continueTo(form, texts)}
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "address")}
${form.asksName ? nameField(texts, typed.name ?? "") : null}
<label for="address">${signIn.address}</label>
<p class="hint" id="hint">${signIn.addressHint}</p>
<input id="address" name="address" type="email" value="${typed.address}" maxlength="254" autocomplete="email" autocapitalize="none"
 spellcheck="false" required autofocus ${describedBy(problem)}>
<button type="submit" class="main">${signIn.sendCode}</button>
</form>
${passkeyForm(texts, form)}`,
    script: form.passkey?.script,
  };
}

const nameField = ({ pages }: Texts, name: string): Html => html`<label for="name">${pages.firstLink.name}</label>
<input id="name" name="name" type="text" value="${name}" maxlength="100" autocomplete="name" required>`;

/** A sent code: the address as typed, and the lifetime of the code. */
export interface CodeOnItsWay {
  readonly typed: string;
  readonly lifeMs: number;
}

/** Step two asks for the code. The page does not reveal whether an account exists. */
export function codePage(texts: Texts, form: SignInForm, sent: CodeOnItsWay, problem: string | null): Page {
  const { code } = texts.pages;
  const values = { address: sent.typed, minutes: minutesIn(texts, sent.lifeMs) };
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: code.title,
    formTargets: form.formTargets,
    content: html`${continueTo(form, texts)}
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "code")}
<label for="code">${code.code}</label>
<p class="hint" id="hint">${fill(code.codeHint, values)}</p>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required
 autofocus ${describedBy(problem)}>
<button type="submit" class="main">${code.signIn}</button>
</form>
<h2>${code.noMail}</h2>
<p>${code.noMailHint}</p>
<form method="post" action="${form.action}">
${guarded(form, "resend")}
<button type="submit">${code.resend}</button>
</form>
<form method="post" action="${form.action}">
${guarded(form, "restart")}
<button type="submit">${code.restart}</button>
</form>`,
  };
}

/** Shown only after the code, so its reader has the mailbox of the account. */
export function deletedPage(texts: Texts, { at, reason }: Deletion): Page {
  const { title, text, reason: given } = texts.pages.deleted;
  const why = reason === null ? null : html`<p>${fill(given, { reason })}</p>`;
  return { status: 403, texts, title, content: html`<p>${fill(text, { at: timeIn(texts, at, "UTC") })}</p>\n${why}` };
}

/** Shown only after the code, so strangers do not learn whether the address has an account. */
export function notRegisteredPage(texts: Texts, { name: server }: Brand): Page {
  const { title, text } = texts.pages.notRegistered;
  return { status: 403, texts, title, content: html`<p>${fill(text, { server })}</p>` };
}

/** The link of the first administrator was used, has expired or was replaced. */
export function firstLinkEndedPage(texts: Texts, status: number): Page {
  const { title, text } = texts.pages.firstLinkEnded;
  return { status, texts, title, content: html`<p>${text}</p>` };
}

/** The sign-in has ended, was started in another browser, or cookies are disabled. */
export function lostPage(texts: Texts): Page {
  const { title, text } = texts.pages.lost;
  return { status: 400, texts, title, content: html`<p>${text}</p>` };
}

/** The request was not sent by our pages. */
export function refusedPage(texts: Texts): Page {
  const { title, restart } = texts.pages.failed;
  return { status: 400, texts, title, content: html`<p>${restart}</p>` };
}

/** The browser, or its network, sent too many requests. */
export function tooManyPage(texts: Texts): Page {
  const { title, text } = texts.pages.tooMany;
  return { status: 429, texts, title, content: html`<p>${text}</p>` };
}

/** A part of the system failed; the typed text is kept. */
export function failedPage(texts: Texts, status: number): Page {
  const { title, retry } = texts.pages.failed;
  return { status, texts, title, content: html`<p>${retry}</p>` };
}
