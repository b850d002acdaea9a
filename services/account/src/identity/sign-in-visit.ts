import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sameDigest } from "@signalbox/auth";
import type Provider from "oidc-provider";
import { errors, type Interaction } from "oidc-provider";
import { labelOf } from "../accounts/contact.ts";
import { lookUpFirstLink } from "../first-link/first-links.ts";
import { formTargetOf } from "../pages/page.ts";
import { textsForReader } from "../pages/pages.ts";
import { creationOptions, isPasskeyPossible, requestOptions } from "../passkeys/ceremonies.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import type { Texts } from "../texts/texts.ts";
import { isForm, readFormBody } from "./callers/request-form.ts";
import type { IdentityService } from "./identity-service.ts";
import { type FollowedLink, followedLink, type IssuerSettings } from "./issuer-settings.ts";
import type { SignInForm } from "./sign-in-pages.ts";

/** One request of a browser in the middle of a sign-in. */
export interface Visit {
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly interaction: Interaction;
  readonly form: SignInForm;
  /** The link of ours that the person follows; null for any other sign-in. */
  readonly link: FollowedLink | null;
  /** Texts in the person's language, which stays the same from page to page. */
  readonly texts: Texts;
}

/** The sent code, stored sealed on our side. */
interface SentCode {
  readonly typed: string;
  readonly to: string;
  /** The name of the first administrator, where it was asked for. */
  readonly name?: string | undefined;
}

/** Opens the visit of the sign-in `uid`; null when the browser's cookie belongs to another one, or it has ended. */
export async function openVisit(
  service: IdentityService,
  provider: Provider,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Visit | null> {
  const { settings } = service;
  const interaction = await interactionOf(provider, request, response);
  if (interaction?.uid !== uid || !prompts.has(interaction.prompt.name)) return null;
  const link = followedLink(settings.address.issuer, interaction.params);
  const asksName = link?.folder === "first-link";
  const passkey = await passkeyOf(service, uid, link, settings);
  const form = { ...(await formOf(provider, interaction, settings)), asksName, passkey };
  const texts = textsForReader(service, request.headers, interaction.params.ui_locales);
  return { provider, request, response, interaction, form, link, texts };
}

/** The prompts that these pages answer. */
const prompts: ReadonlySet<string> = new Set(["login", "consent"]);

/** The id of a request, for the audit. */
export const requestId = (response: ServerResponse): string | null =>
  String(response.getHeader("x-request-id") ?? "") || null;

async function interactionOf(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | null> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return null;
    throw error;
  }
}

/** The ceremony of a sign-in. */
export const ceremonyOf = (uid: string): string => `use ${uid}`;

/** The ceremony of a first administrator's passkey. */
export const firstCeremonyOf = (uid: string): string => `first ${uid}`;

/** A sign-in uses a passkey; that of a first link makes one, for the account that the link is of. */
async function passkeyOf(
  service: IdentityService,
  uid: string,
  link: FollowedLink | null,
  { address: { issuer } }: IssuerSettings,
): Promise<SignInForm["passkey"]> {
  if (!isPasskeyPossible(service)) return null;
  const script = `${issuer}/passkeys.js`;
  if (link?.folder !== "first-link") {
    return { ceremony: "get", options: JSON.stringify(requestOptions(service, ceremonyOf(uid))), script };
  }
  const found = await lookUpFirstLink(service, link.token);
  if (!found?.isOpen) return null;
  const { account } = found;
  const holder = { accountId: account.id, label: labelOf(account), known: await passkeysOf(service.pool, account.id) };
  const options = await creationOptions(service, firstCeremonyOf(uid), holder);
  return { ceremony: "create", options: JSON.stringify(options), script };
}

async function formOf(
  provider: Provider,
  { uid, params }: Interaction,
  { address, cookieKeys: [key = ""] }: IssuerSettings,
): Promise<Omit<SignInForm, "asksName" | "passkey">> {
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

/** Reads the fields of a form of this sign-in; null for any other request. */
export async function guardedFields({ request, form }: Visit): Promise<URLSearchParams | null> {
  if (request.method !== "POST" || !isForm(request) || !isFromOurPage(request)) return null;
  const body = await readFormBody(request);
  if (body === null) return null;
  const fields = new URLSearchParams(body.toString());
  return sameDigest(Buffer.from(fields.get("guard") ?? ""), Buffer.from(form.guard)) ? fields : null;
}

/** Returns true unless the browser says that another site sends the request. */
export function isFromOurPage({ headers: { "sec-fetch-site": site } }: IncomingMessage): boolean {
  // `none` is sent when the reader reloads a page.
  return site === undefined || site === "same-origin" || site === "none";
}

export function sentCodeOf({ interaction: { lastSubmission } }: Visit): SentCode | null {
  return (lastSubmission?.sent as SentCode | undefined) ?? null;
}

/** Stores the sent code and redirects the browser to the next page, which it may then reload. */
export async function remember({ interaction, response, form }: Visit, sent: SentCode | null): Promise<void> {
  interaction.lastSubmission = sent ? { sent } : {};
  await interaction.persist();
  response.writeHead(303, { Location: form.action, "Content-Length": "0" });
  response.end();
}

/** Signs the browser in to the account and sends it back to the application. */
export async function finish(visit: Visit, accountId: string): Promise<void> {
  const { provider, request, response } = visit;
  await endOtherSession(visit, accountId);
  const login = { accountId };
  await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

/**
 * Ends the session of another account in this browser. The provider would do so itself by a page that posts by script,
 * which our pages never run.
 */
async function endOtherSession({ provider, interaction }: Visit, accountId: string): Promise<void> {
  const { session } = interaction;
  if (!session || session.accountId === accountId) return;
  const other = await provider.Session.findByUid(session.uid);
  interaction.session = undefined;
  await interaction.persist();
  await other?.destroy();
}
