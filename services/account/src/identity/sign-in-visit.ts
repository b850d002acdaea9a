import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { sameDigest } from "@signalbox/auth";
import type Provider from "oidc-provider";
import { errors, type Interaction } from "oidc-provider";
import type { Account } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import type { RequestOrigin } from "../audit/audit-log.ts";
import { lookUpFirstLink } from "../first-link/first-links.ts";
import type { PendingSignIn } from "../identity-providers/identity-provider-client.ts";
import { type Exchange, formTargetOf, goTo, type PageRequest, textsForReader } from "../pages/page.ts";
import { creationOptions, isPasskeyPossible, requestOptions } from "../passkeys/ceremonies.ts";
import { allowsPasskeys } from "../passkeys/passkey-rules.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { isForm, readFormBody } from "./callers/request-form.ts";
import type { IdentityService } from "./identity-service.ts";
import { type FollowedLink, followedLink, type IssuerSettings, interactionCookie } from "./issuer-settings.ts";
import type { SignInForm } from "./sign-in-pages.ts";

/** One request of a browser in the middle of a sign-in, whose language stays the same from page to page. */
export interface Visit extends PageRequest {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly form: SignInForm;
  /** The link of ours that the person follows; null for any other sign-in. */
  readonly link: FollowedLink | null;
}

/** The sent code, stored sealed on our side. */
interface SentCode {
  readonly typed: string;
  readonly to: string;
  /** The name, where it was asked for. */
  readonly name?: string | undefined;
}

/** Opens the visit of the sign-in `uid`; null when the browser's cookie belongs to another one, or it has ended. */
export async function openVisit(service: IdentityService, uid: string, exchange: Exchange): Promise<Visit | null> {
  const { settings } = service;
  const provider = service.providers.current();
  const interaction = await interactionOf(provider, exchange);
  if (interaction?.uid !== uid || !prompts.has(interaction.prompt.name)) return null;
  const link = followedLink(settings.address.issuer, interaction.params);
  const asksName = namesAsked.get(link?.folder ?? "") ?? null;
  const passkey = await passkeyOf(service, interaction, link);
  const form = {
    ...(await formOf(provider, interaction, settings)),
    asksName,
    passkey,
    providers: providersOf(service, uid, link),
  };
  const texts = textsForReader(service, exchange.request.headers, interaction.params.ui_locales);
  return { ...exchange, provider, interaction, form, link, texts };
}

/** The sign-ins that ask for a name, by the folder of their link. */
const namesAsked: ReadonlyMap<string, SignInForm["asksName"]> = new Map([
  ["first-link", "required"],
  ["invitations", "optional"],
]);

const prompts: ReadonlySet<string> = new Set(["login", "consent"]);

/** The origin of a request, for the audit. */
export const originOf = ({ callers }: IdentityService, { request, response }: Exchange): RequestOrigin => ({
  address: callers.clientAddress(request),
  requestId: String(response.getHeader("x-request-id") ?? "") || null,
});

/** The browser that signs in, and what the audit says of it. */
export function whoOf(service: IdentityService, visit: Visit) {
  const { request, interaction } = visit;
  const by = { credential: String(interaction.params.client_id), ...originOf(service, visit) };
  return { browser: service.callers.knownBrowsers.of(request), userAgent: request.headers["user-agent"], by };
}

/**
 * Finds the interaction of the browser's cookie. One that began with a session which another tab has ended since goes on
 * without it, where it asks who the person is anyway.
 */
async function interactionOf(provider: Provider, { request, response }: Exchange): Promise<Interaction | null> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
  }
  const { cookies } = provider.createContext(request, response);
  const uid = cookies.get(interactionCookie, { signed: true });
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  if (interaction?.prompt.name !== "login") return null;
  interaction.session = undefined;
  await interaction.persist();
  return interaction;
}

export const ceremonyOf = (uid: string): string => `use ${uid}`;

export const firstCeremonyOf = (uid: string): string => `first ${uid}`;

/** A sign-in uses a passkey; that of a first link, or of a person who needs one and has none, makes one. */
async function passkeyOf(
  service: IdentityService,
  interaction: Interaction,
  link: FollowedLink | null,
): Promise<SignInForm["passkey"]> {
  if (!isPasskeyPossible(service)) return null;
  const { uid } = interaction;
  const script = `${service.settings.address.issuer}/passkeys.js`;
  const proven = provenIn(interaction);
  if (proven === null && link?.folder !== "first-link") {
    if (!allowsPasskeys(service)) return null;
    return { ceremony: "get", options: JSON.stringify(requestOptions(service, ceremonyOf(uid))), script };
  }
  const account = proven === null ? await accountOfLink(service, link) : await service.accountStore.find(proven);
  if (!account) return null;
  const holder = { accountId: account.id, label: labelOf(account), known: await passkeysOf(service.pool, account.id) };
  const options = await creationOptions(service, firstCeremonyOf(uid), holder);
  return { ceremony: "create", options: JSON.stringify(options), script };
}

/** The first administrator has no login elsewhere yet. */
const providersOf = (
  { identityProviders, settings }: IdentityService,
  uid: string,
  link: FollowedLink | null,
): SignInForm["providers"] =>
  (link?.folder === "first-link" ? [] : identityProviders).map(({ name, title }) => ({
    name,
    title,
    url: `${settings.address.path}/sign-in/${uid}/with/${name}`,
  }));

async function accountOfLink(service: IdentityService, link: FollowedLink | null): Promise<Account | null> {
  const found = link && (await lookUpFirstLink(service, link.token));
  return found?.isOpen ? found.account : null;
}

async function formOf(
  provider: Provider,
  { uid, params }: Interaction,
  { address, cookieKeys: [key = ""] }: IssuerSettings,
): Promise<Omit<SignInForm, "asksName" | "passkey" | "providers">> {
  const client = await provider.Client.find(String(params.client_id));
  return {
    action: `${address.path}/sign-in/${uid}`,
    // The cookie binds a sign-in to one browser; the token shows that a form comes from its page.
    guard: createHmac("sha256", key).update(`sign-in form ${uid}`).digest("base64url"),
    application: client?.clientName ?? String(params.client_id),
    // A device's sign-in leads to no other address.
    formTargets: typeof params.redirect_uri === "string" ? [formTargetOf(params.redirect_uri)] : [],
  };
}

/** Reads the fields of a form with this guard; null for any other request. */
export async function guardedFields({ request }: Exchange, guard: string): Promise<URLSearchParams | null> {
  const fields = request.method === "POST" ? await ourFields(request) : null;
  return fields && sameDigest(Buffer.from(fields.get("guard") ?? ""), Buffer.from(guard)) ? fields : null;
}

/** Reads the fields of a form that one of our pages sent; null for any other request. */
export async function ourFields(request: IncomingMessage): Promise<URLSearchParams | null> {
  const body = isForm(request) && isFromOurPage(request) ? await readFormBody(request) : null;
  return body && new URLSearchParams(body.toString());
}

/** Returns true unless the browser says that another site sends the request. */
export function isFromOurPage({ headers: { "sec-fetch-site": site } }: IncomingMessage): boolean {
  // `none` is sent when the reader reloads a page.
  return site === undefined || site === "same-origin" || site === "none";
}

/** The state of a sign-in between its pages, stored sealed on our side. */
interface VisitState {
  readonly sent?: SentCode | undefined;
  /** The address that was typed before a provider was offered. */
  readonly hint?: string | undefined;
  readonly pending?: PendingSignIn | undefined;
  readonly unknownLogin?: UnknownLogin | undefined;
  /** The account that a new passkey is for. */
  readonly proven?: string | undefined;
  /** The time in seconds at which that account signed in, where it may go on without the passkey. */
  readonly offeredAt?: number | undefined;
  /** True where the person types a recovery code. */
  readonly recovers?: true | undefined;
}

/** A step that does not follow a mail. */
type NextStep = Pick<VisitState, "proven" | "offeredAt" | "recovers">;

/** A login that a provider has proved, without an account yet. */
interface UnknownLogin {
  readonly issuer: string;
  readonly subject: string;
  /** Verified by the provider, and offered for the sign-in; null once the person has chosen another. */
  readonly address: string | null;
  /** The account that the person has signed in to since, and may connect. */
  readonly accountId?: string | undefined;
}

export const stateOfVisit = ({ interaction: { lastSubmission = {} } }: Visit) => lastSubmission as VisitState;

export const sentCodeOf = (visit: Visit): SentCode | null => stateOfVisit(visit).sent ?? null;

/** Changes the state of a sign-in. */
export async function changeState(visit: Visit, changes: VisitState): Promise<void> {
  visit.interaction.lastSubmission = { ...stateOfVisit(visit), ...changes };
  await visit.interaction.persist();
}

/** The account whose address the person has proved to hold, and which needs a passkey or is offered one, and has none. */
export const provenIn = ({ lastSubmission = {} }: Interaction): string | null =>
  (lastSubmission as VisitState).proven ?? null;

/** Returns true where the person types a recovery code. */
export const recoversIn = ({ lastSubmission = {} }: Interaction): boolean =>
  (lastSubmission as VisitState).recovers === true;

/** Stores the sent code, or another step, and redirects the browser to the next page, which it may then reload. */
export async function remember(visit: Visit, sent: SentCode | null, step: NextStep = {}): Promise<void> {
  const { unknownLogin } = stateOfVisit(visit);
  const kept = unknownLogin && { ...unknownLogin, address: null };
  await changeState(visit, {
    sent: sent ?? undefined,
    unknownLogin: kept,
    proven: step.proven,
    offeredAt: step.offeredAt,
    recovers: step.recovers,
  });
  goTo(visit, visit.form.action);
}

/** Signs the browser in to the account, since `signedInAt` or now, and sends it back to the application. */
export async function finish(visit: Visit, accountId: string, signedInAt?: number): Promise<void> {
  const { provider, request, response } = visit;
  await endOtherSession(visit, accountId);
  const login = { accountId, ts: signedInAt };
  await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

/**
 * Ends the session of another account in this browser, which another tab may have begun since this sign-in did. The
 * provider would do so itself by a page that posts by script, which our pages never run.
 */
async function endOtherSession({ provider, interaction, request, response }: Visit, accountId: string): Promise<void> {
  const current = await provider.Session.get(provider.createContext(request, response));
  const isOther = current.accountId !== undefined && current.accountId !== accountId;
  if (interaction.session && (isOther || interaction.session.uid !== current.uid)) {
    interaction.session = undefined;
    await interaction.persist();
  }
  if (isOther) await current.destroy();
}
