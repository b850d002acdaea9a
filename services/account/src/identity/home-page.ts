import { createHmac } from "node:crypto";
import { stateRefusal, stepUpMaxAgeMs } from "@signalbox/auth";
import { inTransaction, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import type { Actor } from "../audit/audit-log.ts";
import {
  brandOf,
  type Exchange,
  goTo,
  type Html,
  html,
  Html as Markup,
  type Page,
  type PageRequest,
  sendPage,
} from "../pages/page.ts";
import { type ListedSignIn, networkOf } from "../sign-ins/sign-in.ts";
import {
  endOtherSignIns,
  endSignIn,
  lockSignIn,
  shownMax,
  signInsOfBrowser,
  signOutEverywhere,
} from "../sign-ins/sign-in-list.ts";
import { maySignIn } from "../sign-ins/sign-in-outcome.ts";
import { fill, type Texts, timeIn } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { type IssuerSettings, signInUrl } from "./issuer-settings.ts";
import { linkNotePage, refusedPage } from "./sign-in-pages.ts";
import { guardedFields, originOf } from "./sign-in-visit.ts";
import { stateDigest } from "./state/state-store.ts";

/** A person who is signed in with the browser that sends a request. */
export interface SignedIn {
  readonly account: Account;
  /** The session's `uid`, which no page shows. */
  readonly session: string;
  /** True when the person has signed in within the last quarter of an hour. */
  readonly isRecent: boolean;
}

/** Finds the person of a browser's session; null without one, or when the account may not sign in any more. */
export async function signedInPerson(
  { providers, accountStore, clock }: IdentityService,
  { request, response }: Exchange,
): Promise<SignedIn | null> {
  const provider = providers.current();
  const session = await provider.Session.get(provider.createContext(request, response));
  const account = session.accountId === undefined ? null : await accountStore.find(session.accountId);
  if (!account || !maySignIn(account.status)) return null;
  const signedInAtMs = (session.authTime() ?? 0) * 1000;
  return { account, session: session.uid, isRecent: clock.nowMs() - signedInAtMs < stepUpMaxAgeMs };
}

export async function answerHome(service: IdentityService, path: string, asked: PageRequest): Promise<void> {
  // A sign-in of our own returns with a code, which nobody needs and no address should keep.
  if (path !== "") return goTo(asked, service.settings.address.path);
  const who = await signedInPerson(service, asked);
  const { texts } = asked;
  sendPage(service, asked, who ? signedInPage(service, texts, who.account) : signedOutPage(service, texts));
}

/** Shows the person's sign-ins, and ends one of them, all others, or all. */
export async function answerSignIns(service: IdentityService, asked: PageRequest): Promise<void> {
  const { request, texts } = asked;
  if (request.url?.includes("?")) return goTo(asked, `${service.settings.address.path}/sign-ins`);
  const who = await signedInPerson(service, asked);
  if (!who) return sendPage(service, asked, signInFirstPage(texts, service.settings.address.issuer));
  if (request.method !== "POST") return sendPage(service, asked, await listPage(service, texts, who, null));
  await end(service, asked, who);
}

function signedInPage(service: IdentityService, texts: Texts, account: Account): Page {
  const { settings } = service;
  const { home, signIns, passkeys } = texts.pages;
  return homePage(
    texts,
    html`<p>${fill(home.signedIn, { server: brandOf(service).name, account: labelOf(account) })}</p>
<ul>
${link(`${settings.address.path}/sign-ins`, signIns.title)}
${link(`${settings.address.path}/passkeys`, passkeys.title)}
${link(`${settings.address.path}/device`, home.device)}
${link(`${settings.address.path}/end-session`, home.signOut)}
</ul>`,
  );
}

function signedOutPage(service: IdentityService, texts: Texts): Page {
  const { home, signInToConfirm } = texts.pages;
  return homePage(
    texts,
    html`<p>${fill(home.signedOut, { server: brandOf(service).name })}</p>
<ul>
${link(signInUrl(service.settings.address.issuer, { folder: "home", token: "home" }), signInToConfirm.button)}
${link(`${service.settings.address.path}/device`, home.device)}
</ul>`,
  );
}

const homePage = (texts: Texts, content: Html): Page => ({
  status: 200,
  texts,
  title: texts.pages.home.title,
  content,
});

const link = (url: string, text: string): Html => html`<li><a href="${url}">${text}</a></li>`;

const signInLink = (texts: Texts, issuer: string): Html =>
  html`<p><a href="${signInUrl(issuer, { folder: "sign-ins", token: "sign-ins" })}">${texts.pages.signInToConfirm.button}</a></p>`;

function signInFirstPage(texts: Texts, issuer: string): Page {
  const { title, text } = texts.pages.signIns;
  return { status: 200, texts, title, content: html`<p>${text}</p>\n${signInLink(texts, issuer)}` };
}

type Problem = "hasEnded" | "signInAgain";
const statusOf = { hasEnded: 422, signInAgain: 403 } as const;

/** Ending single sign-ins needs a recent one, or a thief could end those of the owner and stay; ending all never does. */
async function listPage(service: IdentityService, texts: Texts, who: SignedIn, problem: Problem | null): Promise<Page> {
  const { signIns: words } = texts.pages;
  const listed = await signInsOfBrowser(service, who.account.id, stateDigest(who.session));
  const form = stepForm(who, service.settings);
  const sections = listed.map((signIn) => signInSection(texts, who, signIn, form).text).join("\n");
  const hasOthers = listed.some(({ current }) => !current);
  const again = problem === "signInAgain" ? null : html`<p>${words.signInAgain}</p>`;
  return {
    status: problem === null ? 200 : statusOf[problem],
    texts,
    title: words.title,
    content: html`<p>${words.text}</p>
${problem === null ? null : html`<p class="problem" role="alert">${words[problem]}</p>`}
${who.isRecent ? null : html`${again}\n${signInLink(texts, service.settings.address.issuer)}`}
${new Markup(sections)}
${listed.length < shownMax ? null : html`<p>${fill(words.newest, { count: String(shownMax) })}</p>`}
${hasOthers || !who.isRecent ? severalSection(texts, who, form) : null}
<p><a href="${service.settings.address.path}">${texts.pages.home.title}</a></p>`,
  };
}

function severalSection({ pages: { signIns } }: Texts, { isRecent }: SignedIn, form: StepForm): Html {
  const others = html`<button type="submit" class="main">${signIns.endOthers}</button>`;
  return html`<h2>${signIns.several}</h2>
${isRecent ? form("others", others) : null}
${form("all", html`<button type="submit">${signIns.endAll}</button>`)}`;
}

type StepForm = (step: string, content: Html) => Html;

/** Builds the forms of one browser: the token in them shows that they come from its page. */
function stepForm({ session }: SignedIn, settings: IssuerSettings): StepForm {
  const action = `${settings.address.path}/sign-ins`;
  return (step, content) => html`<form method="post" action="${action}">
<input type="hidden" name="guard" value="${guardOf(session, settings)}">
<input type="hidden" name="step" value="${step}">
${content}
</form>`;
}

const guardOf = (session: string, { cookieKeys: [key = ""] }: IssuerSettings): string =>
  createHmac("sha256", key).update(`sign-ins form ${session}`).digest("base64url");

function signInSection(
  texts: Texts,
  { account: { timezone }, isRecent }: SignedIn,
  { id, browser, address, current, createdAt, lastUsedAt }: ListedSignIn,
  form: StepForm,
): Html {
  const { signIns: words } = texts.pages;
  const values = {
    network: address === null ? "–" : networkOf(address),
    since: timeIn(texts, createdAt, timezone),
    used: timeIn(texts, lastUsedAt, timezone),
  };
  const button = html`<input type="hidden" name="id" value="${id}">
<button type="submit" aria-describedby="${id}">${words.end}</button>`;
  return html`<h2 id="${id}">${browser ?? words.unknownBrowser}</h2>
${current ? html`<p><strong>${words.current}</strong></p>` : null}
<p>${fill(words.about, values)}</p>
${isRecent ? form("end", button) : null}`;
}

async function end(service: IdentityService, asked: PageRequest, who: SignedIn): Promise<void> {
  const { settings, pool, accountStore } = service;
  const { texts } = asked;
  const fields = await guardedFields(asked, guardOf(who.session, settings));
  const step = steps.get(fields?.get("step") ?? "");
  if (!fields || !step) return sendPage(service, asked, refusedPage(texts));
  const again = async (problem: Problem) => sendPage(service, asked, await listPage(service, texts, who, problem));
  if (step !== endAll && !who.isRecent) return again("signInAgain");
  const accountId = who.account.id;
  const by: Actor = { kind: "owner", accountId, credential: "sign-ins page", ...originOf(service, asked) };
  const outcome = await inTransaction(pool, async (tx) => {
    const account = await accountStore.lock(tx, accountId);
    if (!account || stateRefusal(stateOf(account), "own-account:write")) return "blocked";
    return step(service, tx, by, { account, session: stateDigest(who.session), id: fields.get("id") ?? "" });
  });
  if (outcome === "blocked") return sendPage(service, asked, linkNotePage(texts, 403, "linkBlocked"));
  if (outcome === "hasEnded") return again("hasEnded");
  // Without a session of its own any more, the browser reads there that nobody is signed in.
  goTo(asked, `${settings.address.path}/sign-ins`);
}

interface Ending {
  readonly account: Account;
  /** The digest of the browser's session. */
  readonly session: Buffer;
  readonly id: string;
}

type Step = (service: IdentityService, tx: Tx, by: Actor, ending: Ending) => Promise<"ended" | "hasEnded">;

const endOne: Step = async (service, tx, by, { account, id }) => {
  const found = await lockSignIn(service, tx, account.id, id);
  if (!found) return "hasEnded";
  await endSignIn(service, tx, by, found);
  return "ended";
};

const endOthers: Step = async (service, tx, by, { account, session }) => {
  await endOtherSignIns(service, tx, by, account, session);
  return "ended";
};

const endAll: Step = async (service, tx, by, { account }) => {
  await signOutEverywhere(service, tx, by, account);
  return "ended";
};

const steps: ReadonlyMap<string, Step> = new Map([
  ["end", endOne],
  ["others", endOthers],
  ["all", endAll],
]);
