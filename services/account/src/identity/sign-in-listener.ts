import type { IncomingMessage, ServerResponse } from "node:http";
import { displayName } from "@signalbox/contracts";
import { addressBucket } from "@signalbox/http";
import { inTransaction, type Pool } from "@signalbox/storage";
import type Provider from "oidc-provider";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { RefusedCode } from "../codes/code-answers.ts";
import { lifeMs } from "../codes/one-time-codes.ts";
import type { FirstLinkOutcome, FirstLinks } from "../first-link/first-links.ts";
import type { Page } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { Ceremonies } from "../passkeys/ceremonies.ts";
import type { PasskeySignIn, Passkeys } from "../passkeys/passkeys.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import type { SendOutcome, SignInOutcome, SignIns } from "../sign-ins/sign-ins.ts";
import { fill, minutesIn } from "../texts/texts.ts";
import { type Callers, tellCount } from "./callers/callers.ts";
import type { Consent } from "./consent.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import {
  addressPage,
  codePage,
  deletedPage,
  firstLinkEndedPage,
  lostPage,
  notRegisteredPage,
  refusedPage,
  tooManyPage,
} from "./sign-in-pages.ts";
import {
  ceremonyOf,
  finish,
  firstCeremonyOf,
  guardedFields,
  openVisit,
  remember,
  requestId,
  sentCodeOf,
  type Visit,
} from "./sign-in-visit.ts";

export type SignInListener = ReturnType<typeof createSignInListener>;

/** The ways in which a person proves who they are. */
export interface Proving {
  readonly signIns: SignIns;
  readonly firstLinks: FirstLinks;
  readonly passkeys: Passkeys;
  readonly ceremonies: Ceremonies;
}

interface Dependencies {
  readonly pool: Pool;
  readonly settings: IssuerSettings;
  readonly proving: Proving;
  readonly callers: Callers;
  readonly pages: Pages;
  readonly consent: Consent;
}

/** The sign-in pages: they ask for an address, then for the code mailed to it, and some applications for consent. */
export function createSignInListener(dependencies: Dependencies) {
  const { settings, pages, proving } = dependencies;
  const { limits } = dependencies.callers;

  /** Answers a request below `/oauth/sign-in/`; `uid` is the rest of its path. */
  return async function answerSignIn(
    provider: Provider,
    uid: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const visit = await openVisit(provider, uid, request, response, { settings, pages, proving });
    const count = visit ? limits.signIn(uid) : limits.stray(request);
    tellCount(response, count);
    const texts = visit?.texts ?? pages.textsFor(request.headers);
    if (!count.allowed) return pages.send(response, tooManyPage(texts));
    if (!visit) return pages.send(response, lostPage(texts));
    const prompt = visit.interaction.prompt.name;
    if (request.method === "GET" || request.method === "HEAD") {
      const page = prompt === "consent" ? await dependencies.consent.page(visit) : pageOf(visit);
      return pages.send(response, page ?? lostPage(texts));
    }
    const fields = await guardedFields(visit);
    const step = fields && steps.get(`${prompt} ${fields.get("step") ?? ""}`);
    if (!step) return pages.send(response, refusedPage(visit.texts));
    await step(visit, fields, dependencies);
  };
}

function pageOf(visit: Visit): Page {
  const sent = sentCodeOf(visit);
  if (sent) return askCode(visit, sent.typed, null);
  const hint = visit.interaction.params.login_hint;
  const isAddress = typeof hint === "string" && checkContactAddress(hint) === null;
  return addressPage(visit.texts, visit.form, { address: isAddress ? hint : "" }, null);
}

type CodeProblem = RefusedCode | "notSentAgain";

function askCode({ texts, form }: Visit, typed: string, problem: CodeProblem | null): Page {
  const codeLifeMs = lifeMs["sign-in"];
  const text = problem && fill(texts.pages.code[problem], { minutes: minutesIn(texts, codeLifeMs) });
  return codePage(texts, form, { typed, lifeMs: codeLifeMs }, text);
}

type Step = (visit: Visit, fields: URLSearchParams, dependencies: Dependencies) => Promise<void>;

const takeAddress: Step = async (visit, fields, dependencies) => {
  const { texts, response, form } = visit;
  const { signIn, firstLink } = texts.pages;
  const address = normalized(fields.get("address") ?? "").trim();
  const name = form.asksName ? displayName.safeParse(fields.get("name") ?? "").data : "";
  const typed = { address: address.slice(0, 254), name: (fields.get("name") ?? "").slice(0, 100) };
  const refuse = (problem: string) => dependencies.pages.send(response, addressPage(texts, form, typed, problem));
  if (name === undefined) return refuse(firstLink.notAName);
  if (checkContactAddress(address) !== null) return refuse(signIn.notAnAddress);
  const result = await sendCode(visit, address, dependencies);
  if (result.outcome !== "sent") return refuse(signIn.notSent);
  return remember(visit, { typed: address, to: result.to, ...(form.asksName && { name }) });
};

const resend: Step = async (visit, _fields, dependencies) => {
  const sent = sentCodeOf(visit);
  if (!sent) return remember(visit, null);
  const result = await sendCode(visit, sent.typed, dependencies);
  if (result.outcome === "sent") return remember(visit, { ...sent, to: result.to });
  dependencies.pages.send(visit.response, askCode(visit, sent.typed, "notSentAgain"));
};

/**
 * Requests from one address wait for each other, without holding a connection; a known browser does not wait for
 * strangers.
 */
function sendCode(visit: Visit, address: string, dependencies: Dependencies): Promise<SendOutcome> {
  const { request, interaction, texts } = visit;
  const { pool, proving } = dependencies;
  const { clientAddress, knownBrowsers } = dependencies.callers;
  const client = addressBucket(clientAddress(request));
  const browser = knownBrowsers.of(request);
  const by = { signIn: interaction.uid, client, browser, locale: texts.locale };
  return inTransaction(pool, (tx) => proving.signIns.sendCode(tx, address, by), {
    key: `sign-in ${browser?.id ?? client}`,
  });
}

/** The browser that signs in, and what the audit says of it. */
function whoOf({ request, response, interaction }: Visit, { clientAddress, knownBrowsers }: Callers) {
  const by = {
    credential: String(interaction.params.client_id),
    address: clientAddress(request),
    requestId: requestId(response),
  };
  return { browser: knownBrowsers.of(request), userAgent: request.headers["user-agent"], by };
}

const takeCode: Step = async (visit, fields, dependencies) => {
  const { pool, proving, callers, pages } = dependencies;
  const { signIns, firstLinks, passkeys } = proving;
  const { response, interaction, form, link, texts } = visit;
  const { locale } = texts;
  const sent = sentCodeOf(visit);
  if (!sent) return pages.send(response, addressPage(texts, form, { address: "" }, null));
  const code = (fields.get("code") ?? "").slice(0, 64);
  const signIn = interaction.uid;
  const who = whoOf(visit, callers);
  const invitation = link?.folder === "invitations" ? link.token : null;
  const typed = { signIn, address: sent.to, code, locale, invitation, ...who };
  const result = await inTransaction<SignInOutcome | FirstLinkOutcome>(pool, async (tx) => {
    if (link?.folder === "first-link")
      return firstLinks.complete(tx, { ...typed, token: link.token, name: sent.name ?? "" });
    const completed = await signIns.complete(tx, typed);
    if (completed.outcome === "signed-in") await passkeys.tellOfCode(tx, completed.accountId, who);
    return completed;
  });
  switch (result.outcome) {
    case "code-refused":
      return pages.send(response, askCode(visit, sent.typed, result.why));
    case "address-taken":
      return pages.send(
        response,
        addressPage(texts, form, { address: sent.typed, name: sent.name ?? "" }, texts.pages.firstLink.addressTaken),
      );
    case "first-link-ended":
      await interaction.destroy();
      return pages.send(response, firstLinkEndedPage(texts, 410));
    case "not-registered":
      await interaction.destroy();
      return pages.send(response, notRegisteredPage(texts, pages.brand()));
    default:
      return conclude(visit, result, dependencies);
  }
};

const takePasskey: Step = async (visit, fields, dependencies) => {
  const { pool, proving, callers, pages } = dependencies;
  const { passkeys, ceremonies } = proving;
  const { texts, form, interaction, response } = visit;
  const presented = form.passkey?.ceremony !== "get" ? null : ceremonies.read(fields.get("response") ?? "");
  const used = presented && { presented, belongsTo: ceremonyOf(interaction.uid), ...whoOf(visit, callers) };
  const verified = used && (await passkeys.verify(used));
  const result = verified ? await inTransaction(pool, (tx) => passkeys.signIn(tx, verified, used)) : null;
  if (result === null || result.outcome === "refused") {
    return pages.send(response, addressPage(texts, form, { address: "" }, texts.pages.passkeys.refused));
  }
  await conclude(visit, result, dependencies);
};

/** Makes the passkey of the first administrator, by which they sign in from then on. */
const takeNewPasskey: Step = async (visit, fields, dependencies) => {
  const { pool, proving, callers, pages } = dependencies;
  const { texts, form, interaction, response, link } = visit;
  if (link?.folder !== "first-link") return pages.send(response, refusedPage(texts));
  const made = await proving.ceremonies.verifyNew(firstCeremonyOf(interaction.uid), fields.get("response") ?? "");
  const { userAgent, by } = whoOf(visit, callers);
  const name = browserNameOf(userAgent) ?? "Passkey";
  const result =
    made &&
    (await inTransaction(pool, (tx) =>
      proving.firstLinks.completeByPasskey(tx, { token: link.token, made, name, by }),
    ));
  switch (result?.outcome) {
    case "signed-in":
      return conclude(visit, result, dependencies);
    case "first-link-ended":
      await interaction.destroy();
      return pages.send(response, firstLinkEndedPage(texts, 410));
    default:
      return pages.send(response, addressPage(texts, form, { address: "" }, texts.pages.passkeys.notAdded));
  }
};

/** Ends a visit whose person has proved who they are. */
async function conclude(
  visit: Visit,
  result: Exclude<PasskeySignIn, { outcome: "refused" }>,
  { pages, callers: { knownBrowsers } }: Dependencies,
): Promise<void> {
  const { request, response, interaction, texts } = visit;
  if (result.outcome === "account-deleted") {
    await interaction.destroy();
    return pages.send(response, deletedPage(texts, result));
  }
  knownBrowsers.remember(request, response, result.accountId);
  return finish(visit, result.accountId);
}

/** The steps, by the prompt of the visit and the name of the submitted form. */
const steps: ReadonlyMap<string, Step> = new Map([
  ["login address", takeAddress],
  ["login code", takeCode],
  ["login passkey", takePasskey],
  ["login new-passkey", takeNewPasskey],
  ["login resend", resend],
  ["login restart", (visit: Visit) => remember(visit, null)],
  ["consent allow", (visit: Visit, _fields: URLSearchParams, { consent }: Dependencies) => consent.allow(visit)],
  ["consent deny", (visit: Visit, _fields: URLSearchParams, { consent }: Dependencies) => consent.deny(visit)],
]);
