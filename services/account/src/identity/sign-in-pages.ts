import { type Brand, type Html, html, Html as Markup, notePage, type Page } from "../pages/page.ts";
import type { Deletion } from "../sign-ins/sign-in-outcome.ts";
import { fill, minutesIn, type Texts, timeIn } from "../texts/texts.ts";

/** The common part of every sign-in form: its target, and the CSRF token. */
export interface SignInForm {
  readonly action: string;
  readonly guard: string;
  readonly application: string;
  /** Origins to which the browser returns after the sign-in. */
  readonly formTargets: readonly string[];
  /** The name is asked for too: of the first administrator, and of an invited person, who may have an account. */
  readonly asksName: "required" | "optional" | null;
  /** The identity providers to sign in with. A link leads there: a form could not return, past unknown sites. */
  readonly providers: readonly { readonly name: string; readonly title: string; readonly url: string }[];
  /** The ceremony that uses a passkey, or makes the first administrator's; null where browsers allow none. */
  readonly passkey: {
    readonly ceremony: "get" | "create";
    readonly options: string;
    readonly script: string;
  } | null;
}

/** The typed values of the first page. */
interface TypedPerson {
  readonly address: string;
  readonly name?: string;
  /** The credential id of an unknown passkey. */
  readonly unknownPasskey?: string | undefined;
}

/** Hidden fields of a form: its CSRF token, and its step. */
export const guarded = (
  { guard }: SignInForm,
  step: string,
): Html => html`<input type="hidden" name="guard" value="${guard}">
<input type="hidden" name="step" value="${step}">`;

const continueTo = ({ application }: SignInForm, { pages }: Texts): Html =>
  html`<p>${fill(pages.signIn.continueTo, { application })}</p>`;

export const problemAbove = (problem: string | null): Html | null =>
  problem === null ? null : html`<p class="problem" id="problem" role="alert">${problem}</p>`;

/** Names the texts that describe the field, the problem first. */
export const describedBy = (problem: string | null): Html =>
  problem === null ? html`aria-describedby="hint"` : html`aria-describedby="problem hint" aria-invalid="true"`;

/**
 * A form that its script shows: it signs in with a passkey, without an address. The script tells the browser of a
 * passkey that is `unknown` here.
 */
function passkeyForm(
  { pages: { passkeys, firstLink } }: Texts,
  form: SignInForm,
  unknown: string | undefined,
): Html | null {
  if (form.passkey === null) return null;
  const { ceremony, options } = form.passkey;
  const isNew = ceremony === "create";
  const about = form.asksName === "required" ? html`<h2>${firstLink.orPasskey}</h2>\n<p>${passkeys.text}</p>` : null;
  return html`<form method="post" action="${form.action}" data-passkey="${ceremony}" data-options="${options}"${
    unknown === undefined ? null : html` data-unknown="${unknown}"`
  } hidden>
${guarded(form, isNew ? "new-passkey" : "passkey")}
<input type="hidden" name="response" value="">
${about}
<p class="problem" role="alert" data-problem data-already-there="${passkeys.alreadyThere}" hidden>${isNew ? passkeys.notAdded : passkeys.cancelled}</p>
<button type="submit">${isNew ? firstLink.usePasskey : passkeys.signIn}</button>
</form>`;
}

export function addressPage(texts: Texts, form: SignInForm, typed: TypedPerson, problem: string | null): Page {
  const { signIn } = texts.pages;
  const autofill = form.passkey?.ceremony === "get" ? "username webauthn" : "email";
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: signIn.title,
    formTargets: form.formTargets,
    content: html`${continueTo(form, texts)}
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "address")}
${form.asksName === null ? null : nameField(texts, typed.name ?? "", form.asksName === "required")}
<label for="address">${signIn.address}</label>
<p class="hint" id="hint">${signIn.addressHint}</p>
<input id="address" name="address" type="email" value="${typed.address}" maxlength="254" autocomplete="${autofill}" autocapitalize="none"
 spellcheck="false" required autofocus ${describedBy(problem)}>
<button type="submit" class="main">${signIn.sendCode}</button>
</form>
${passkeyForm(texts, form, typed.unknownPasskey)}
${providerLinks(texts, form.providers)}
${form.asksName === "required" ? null : stepButton(form, "recovery", texts.pages.recovery.title)}`,
    script: form.passkey?.script,
  };
}

const providerLinks = ({ pages: { providers } }: Texts, offered: SignInForm["providers"]): Html | null =>
  offered.length === 0
    ? null
    : html`<p class="buttons">${new Markup(
        offered
          .map(
            ({ title, url }) =>
              html`<a class="button" href="${url}">${fill(providers.goOn, { provider: title })}</a>`.text,
          )
          .join("\n"),
      )}</p>`;

const nameField = (
  { pages }: Texts,
  name: string,
  isRequired: boolean,
): Html => html`<label for="name">${pages.firstLink.name}</label>
<input id="name" name="name" type="text" value="${name}" maxlength="100" autocomplete="name"${isRequired ? html` required` : null}>`;

interface SentMail {
  /** The address as typed. */
  readonly typed: string;
  readonly lifeMs: number;
  /** True where the server prints its mails instead of sending them. */
  readonly isPrinted: boolean;
}

/**
 * Step two asks for the code that was sent to the address as typed, and lives for `lifeMs`. The page does not reveal
 * whether an account exists.
 */
export function codePage(
  texts: Texts,
  form: SignInForm,
  { typed: address, lifeMs, isPrinted }: SentMail,
  problem: string | null,
): Page {
  const { code } = texts.pages;
  const values = { address, minutes: minutesIn(texts, lifeMs) };
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
${form.passkey === null ? null : html`<input type="hidden" name="passkeys" value="" data-passkeys>`}
<button type="submit" class="main">${code.signIn}</button>
</form>
<h2>${isPrinted ? code.printedTitle : code.noMail}</h2>
<p>${isPrinted ? code.printed : code.noMailHint}</p>
${stepButton(form, "resend", code.resend)}
${stepButton(form, "restart", code.restart)}`,
    script: form.passkey?.script,
  };
}

/** A form of one button, which submits a step. */
export const stepButton = (
  form: SignInForm,
  step: string,
  label: string,
): Html => html`<form method="post" action="${form.action}">
${guarded(form, step)}
<button type="submit">${label}</button>
</form>`;

/** Asks for a recovery code, which says whose it is. */
export function recoveryPage(texts: Texts, form: SignInForm, problem: string | null): Page {
  const { recovery, code } = texts.pages;
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: recovery.title,
    formTargets: form.formTargets,
    content: html`${continueTo(form, texts)}
${problemAbove(problem)}
<form method="post" action="${form.action}">
${guarded(form, "recovery-code")}
<label for="recovery_code">${recovery.code}</label>
<p class="hint" id="hint">${recovery.text}</p>
<input id="recovery_code" name="recovery_code" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="64"
 required autofocus ${describedBy(problem)}>
<button type="submit" class="main">${code.signIn}</button>
</form>
${stepButton(form, "restart", code.restart)}`,
  };
}

/** A person who needs a passkey adds the first one. */
export function passkeyNeededPage(texts: Texts, form: SignInForm, problem: string | null): Page {
  const { passkeyNeeded, passkeys } = texts.pages;
  const content = html`${continueTo(form, texts)}
${problemAbove(problem)}
<p>${passkeyNeeded.text}</p>
<p data-without-passkey>${passkeys.needsScript}</p>
${passkeyForm(texts, form, undefined)}`;
  const status = problem === null ? 200 : 422;
  return { status, texts, title: passkeyNeeded.title, content, script: form.passkey?.script };
}

/** Offers a first passkey to a person who has signed in by code. */
export function passkeyOfferPage(texts: Texts, form: SignInForm, problem: string | null): Page {
  const { passkeyNeeded, passkeys, providers } = texts.pages;
  const content = html`${continueTo(form, texts)}
${problemAbove(problem)}
<p>${passkeys.text}</p>
${passkeyForm(texts, { ...form, asksName: null }, undefined)}
${stepButton(form, "not-now", providers.skip)}`;
  const status = problem === null ? 200 : 422;
  const { formTargets, passkey } = form;
  return { status, texts, title: passkeyNeeded.title, content, formTargets, script: passkey?.script };
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
  return notePage(texts, 403, { title, text: fill(text, { server }) });
}

/** The link of the first administrator was used, has expired or was replaced. */
export const firstLinkEndedPage = (texts: Texts, status: number): Page =>
  notePage(texts, status, texts.pages.firstLinkEnded);

/** The request was not sent by our pages; `url` shows the page that sends it. */
export function refusedPage(texts: Texts, url = samePage): Page {
  const { title, restart } = texts.pages.failed;
  return tryAgain(notePage(texts, 400, { title, text: restart }), url);
}

/** The browser, or its network, sent too many requests. */
export const tooManyPage = (texts: Texts): Page => tryAgain(notePage(texts, 429, texts.pages.tooMany), samePage);

/** The address of the page itself, which its link opens anew without the form that was sent. */
const samePage = "";

const tryAgain = (page: Page, url: string): Page => ({
  ...page,
  next: { url, text: page.texts.pages.providers.again },
});

/** A part of the system failed; the typed text is kept. */
export function failedPage(texts: Texts, status: number): Page {
  const { title, retry } = texts.pages.failed;
  return tryAgain(notePage(texts, status, { title, text: retry }), samePage);
}

/** A link is over, unknown, or leads to an account whose state permits no change. */
export function linkNotePage(texts: Texts, status: number, name: "linkUnknown" | "linkEnded" | "linkBlocked"): Page {
  const { title, paragraphs } = texts.pages[name];
  return notePage(texts, status, { title, text: paragraphs.join(" ") });
}
