import { randomBytes } from "node:crypto";
import { stepUpMaxAgeMs } from "@signalbox/auth";
import { inTransaction } from "@signalbox/storage";
import { labelOf } from "../accounts/contact.ts";
import type { IdentityProvider } from "../identity-providers/identity-provider.ts";
import type { ProvenPerson } from "../identity-providers/identity-provider-client.ts";
import { brandOf, goTo, html, type Page, type PageRequest, sendPage } from "../pages/page.ts";
import { joinLogin, signInByProvider } from "../sign-ins/identity-provider-sign-ins.ts";
import { fill } from "../texts/texts.ts";
import type { IdentityService } from "./identity-service.ts";
import { deletedPage, guarded, notRegisteredPage, refusedPage, type SignInForm, stepButton } from "./sign-in-pages.ts";
import { changeState, finish, isFromOurPage, stateOfVisit, type Visit, whoOf } from "./sign-in-visit.ts";
import { lostPage, withOtherAddress } from "./ways-on.ts";

/** The state of a request to a provider: the sign-in that it belongs to, and what only its browser's sign-in knows. */
const statePattern = /^([\w-]{10,64})\.[\w-]{32}$/;

/**
 * Hands the answer of a provider to the sign-in in its state. The address is one for each provider (RFC 9700 §4.4.2.2), and
 * the browser's cookie is for the sign-in's own path.
 */
export async function answerCallback(service: IdentityService, name: string, asked: PageRequest): Promise<void> {
  const query = queryOf(asked);
  const [, uid] = statePattern.exec(query.get("state") ?? "") ?? [];
  const isKnown = service.identityProviders.some((provider) => provider.name === name);
  if (uid === undefined || !isKnown) return sendPage(service, asked, await lostPage(service, asked, asked.texts, ""));
  goTo(asked, `${service.settings.address.path}/sign-in/${uid}/from/${name}?${query}`);
}

/** Answers a request of a sign-in that leads to a provider, or comes back from it. */
export async function answerProvider(service: IdentityService, visit: Visit, way: string, name: string): Promise<void> {
  const provider = service.identityProviders.find((one) => one.name === name);
  const isOffered = visit.form.providers.some((one) => one.name === name);
  if (!provider || !isOffered || visit.request.method === "POST") {
    return sendPage(service, visit, refusedPage(visit.texts, visit.form.action));
  }
  return way === "with" ? leaveFor(service, visit, provider) : returnFrom(service, visit, provider);
}

async function leaveFor(service: IdentityService, visit: Visit, provider: IdentityProvider): Promise<void> {
  if (!isFromOurPage(visit.request)) return sendPage(service, visit, refusedPage(visit.texts, visit.form.action));
  const { uid, params } = visit.interaction;
  const state = `${uid}.${randomBytes(24).toString("base64url")}`;
  const loginHint = stateOfVisit(visit).hint ?? null;
  // Whoever must sign in again here must do so there.
  const isForced = String(params.prompt ?? "").includes("login") || params.max_age !== undefined;
  try {
    const { url, pending } = await service.identityProviderClient.begin(provider, state, { loginHint, isForced });
    await changeState(visit, { pending });
    goTo(visit, url.href);
  } catch (error) {
    fail(service, visit, provider, "unavailable", error);
  }
}

async function returnFrom(service: IdentityService, visit: Visit, provider: IdentityProvider): Promise<void> {
  const { pending } = stateOfVisit(visit);
  const query = queryOf(visit);
  // A second tab has begun anew, the answer is repeated, or it is that of another provider.
  if (pending?.provider !== provider.name || pending.state !== query.get("state")) {
    return fail(service, visit, provider, "refused", "the response does not belong to the current sign-in");
  }
  // An answer counts once.
  await changeState(visit, { pending: undefined });
  const answer = await service.identityProviderClient.complete(provider, pending, query);
  if (answer.outcome !== "proven") return fail(service, visit, provider, answer.outcome, answer.error);
  await signIn(service, visit, provider, answer.person);
}

async function signIn(
  service: IdentityService,
  visit: Visit,
  provider: IdentityProvider,
  { subject, address, claims, signedInAt }: ProvenPerson,
): Promise<void> {
  const { link, texts, form, request, response } = visit;
  const identity = { issuer: provider.name, subject };
  const invitation = link?.folder === "invitations" ? link.token : null;
  const proven = { identity, address, claims, invitation, ...whoOf(service, visit) };
  const result = await inTransaction(service.pool, (tx) => signInByProvider(service, tx, proven));
  switch (result.outcome) {
    case "signed-in": {
      service.callers.knownBrowsers.remember(request, response, result.accountId);
      return finish(visit, result.accountId, signedInAt ?? longAgo(service));
    }
    case "account-deleted":
      return sendPage(service, visit, withOtherAddress(deletedPage(texts, result), form));
    case "no-address":
      return fail(service, visit, provider, "unverified", "no verified address");
    case "address-held":
      await changeState(visit, { sent: undefined, unknownLogin: { ...identity, address } });
      return goTo(visit, form.action);
    case "not-registered":
      await changeState(visit, { sent: undefined, unknownLogin: { ...identity, address: null } });
      return sendPage(service, visit, withOtherAddress(notRegisteredPage(texts, brandOf(service)), form));
  }
}

/** A sign-in of unknown age is not recent enough for what needs a recent one. */
const longAgo = ({ clock }: IdentityService): number => Math.floor((clock.nowMs() - stepUpMaxAgeMs) / 1000) - 1;

type Failure = "denied" | "unavailable" | "refused" | "unverified";
const statusOf = { denied: 403, unavailable: 503, refused: 400, unverified: 403 } as const;

/** Shows why a provider signs nobody in, with the other ways. */
function fail(
  service: IdentityService,
  visit: Visit,
  { name, title }: IdentityProvider,
  why: Failure,
  error: unknown,
): void {
  const { texts, form, response } = visit;
  const { providers, waysOn } = texts.pages;
  service.log.warn({ provider: name, why, error }, "a sign-in with an identity provider failed");
  if (why === "unavailable") response.setHeader("Retry-After", "5");
  const url = form.providers.find((one) => one.name === name)?.url ?? "";
  sendPage(service, visit, {
    status: statusOf[why],
    texts,
    title: fill(providers.failed, { provider: title }),
    formTargets: form.formTargets,
    content: html`<p>${fill(providers[why], { provider: title })}</p>
<div class="buttons">
<a class="button" href="${url}">${providers.again}</a>
${stepButton(form, "restart", providers.another)}
${stepButton(form, "cancel", fill(waysOn.cancel, { application: form.application }))}
</div>`,
  });
}

/** Offers the provider of an address's domain, and a code all the same. */
export function offerPage({ texts, form }: Visit, { name, title }: IdentityProvider, typed: TypedPerson): Page {
  const { providers, signIn } = texts.pages;
  const url = form.providers.find((one) => one.name === name)?.url ?? "";
  return {
    status: 200,
    texts,
    title: signIn.title,
    formTargets: form.formTargets,
    content: html`<p>${fill(providers.offer, { address: typed.address, provider: title })}</p>
<p class="buttons"><a class="button main" href="${url}">${fill(providers.goOn, { provider: title })}</a></p>
${codeForm(form, typed, signIn.sendCode)}`,
  };
}

interface TypedPerson {
  readonly address: string;
  readonly name: string;
}

/** A form that mails a code to an address which is not asked for again. */
const codeForm = (form: SignInForm, { address, name }: TypedPerson, text: string) => html`<form method="post" action="${
  form.action
}">
${guarded(form, "address")}
<input type="hidden" name="by" value="code">
<input type="hidden" name="address" value="${address}">
<input type="hidden" name="name" value="${name}">
<button type="submit">${text}</button>
</form>`;

/** The page of a login without an account: its person signs in as before, then connects it. Null for any other visit. */
export async function loginPage(service: IdentityService, visit: Visit): Promise<Page | null> {
  const { texts, form } = visit;
  const { providers, signIn } = texts.pages;
  const { unknownLogin: login } = stateOfVisit(visit);
  if (!login) return null;
  const provider = service.identityProviders.find(({ name }) => name === login.issuer)?.title ?? login.issuer;
  const account = login.accountId === undefined ? null : await service.accountStore.find(login.accountId);
  if (account) {
    return {
      status: 200,
      texts,
      title: fill(providers.connectTitle, { provider }),
      formTargets: form.formTargets,
      content: html`<p>${fill(providers.connect, { provider, account: labelOf(account) })}</p>
<div class="buttons">
${stepButton(form, "connect", providers.connectButton)}
${stepButton(form, "skip", providers.skip)}
</div>`,
    };
  }
  if (login.address === null) return null;
  return {
    status: 200,
    texts,
    title: providers.joinTitle,
    formTargets: form.formTargets,
    content: html`<p>${fill(providers.join, { provider, address: login.address })}</p>
${codeForm(form, { address: login.address, name: "" }, signIn.sendCode)}
${stepButton(form, "restart", providers.another)}`,
  };
}

/** Asks whether the account that the person has just signed in to is connected with their login; false without a login. */
export async function askToConnect(visit: Visit, accountId: string): Promise<boolean> {
  const { unknownLogin: login } = stateOfVisit(visit);
  if (!login) return false;
  await changeState(visit, {
    sent: undefined,
    proven: undefined,
    offeredAt: undefined,
    recovers: undefined,
    unknownLogin: { ...login, accountId },
  });
  goTo(visit, visit.form.action);
  return true;
}

/** Goes on with the account, connected by the owner's consent or not. */
export async function answerConnect(service: IdentityService, visit: Visit, isWanted: boolean): Promise<void> {
  const { unknownLogin: login } = stateOfVisit(visit);
  if (login?.accountId === undefined) return sendPage(service, visit, refusedPage(visit.texts, visit.form.action));
  const { issuer, subject, accountId } = login;
  const { by } = whoOf(service, visit);
  if (isWanted)
    await inTransaction(service.pool, (tx) => joinLogin(service, tx, accountId, { identity: { issuer, subject }, by }));
  return finish(visit, accountId);
}

const queryOf = ({ request: { url = "" } }: PageRequest): URLSearchParams => new URLSearchParams(url.split("?", 2)[1]);
