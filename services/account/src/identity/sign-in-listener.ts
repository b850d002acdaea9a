import type { IncomingMessage, ServerResponse } from "node:http";
import { displayName } from "@signalbox/contracts";
import { addressBucket } from "@signalbox/http";
import { inTransaction } from "@signalbox/storage";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { RefusedCode } from "../codes/code-answers.ts";
import { lifeMs } from "../codes/one-time-codes.ts";
import { completeFirstLink, completeFirstLinkByPasskey, type FirstLinkOutcome } from "../first-link/first-links.ts";
import type { Page } from "../pages/page.ts";
import { brandOf, sendPage, textsForReader } from "../pages/pages.ts";
import { readPresentedPasskey, verifyNewPasskey } from "../passkeys/ceremonies.ts";
import { type PasskeySignIn, signInByPasskey, tellOfCode, verifyPasskey } from "../passkeys/passkeys.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { completeSignIn, type SendOutcome, type SignInOutcome, sendSignInCode } from "../sign-ins/sign-ins.ts";
import { fill, minutesIn } from "../texts/texts.ts";
import { tellCount } from "./callers/callers.ts";
import { allowConsent, consentPageOf, denyConsent } from "./consent.ts";
import type { IdentityService } from "./identity-service.ts";
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

/**
 * Answers a request below `/oauth/sign-in/`; `uid` is the rest of its path. The pages ask for an address, then for the
 * code mailed to it, and some applications for consent.
 */
export async function answerSignIn(
  service: IdentityService,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { providers, callers } = service;
  const provider = providers.current();
  const visit = await openVisit(service, provider, uid, request, response);
  const count = visit ? callers.limits.signIn(uid) : callers.limits.stray(request);
  tellCount(response, count);
  const texts = visit?.texts ?? textsForReader(service, request.headers);
  if (!count.allowed) return sendPage(service, response, tooManyPage(texts));
  if (!visit) return sendPage(service, response, lostPage(texts));
  const prompt = visit.interaction.prompt.name;
  if (request.method === "GET" || request.method === "HEAD") {
    const page = prompt === "consent" ? await consentPageOf(service, visit) : pageOf(visit);
    return sendPage(service, response, page ?? lostPage(texts));
  }
  const fields = await guardedFields(visit);
  const step = fields && steps.get(`${prompt} ${fields.get("step") ?? ""}`);
  if (!step) return sendPage(service, response, refusedPage(visit.texts));
  await step(service, visit, fields);
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

type Step = (service: IdentityService, visit: Visit, fields: URLSearchParams) => Promise<void>;

const takeAddress: Step = async (service, visit, fields) => {
  const { texts, response, form } = visit;
  const { signIn, firstLink } = texts.pages;
  const address = normalized(fields.get("address") ?? "").trim();
  const name = form.asksName ? displayName.safeParse(fields.get("name") ?? "").data : "";
  const typed = { address: address.slice(0, 254), name: (fields.get("name") ?? "").slice(0, 100) };
  const refuse = (problem: string) => sendPage(service, response, addressPage(texts, form, typed, problem));
  if (name === undefined) return refuse(firstLink.notAName);
  if (checkContactAddress(address) !== null) return refuse(signIn.notAnAddress);
  const result = await sendCode(service, visit, address);
  if (result.outcome !== "sent") return refuse(signIn.notSent);
  return remember(visit, { typed: address, to: result.to, name: form.asksName ? name : undefined });
};

const resend: Step = async (service, visit) => {
  const sent = sentCodeOf(visit);
  if (!sent) return remember(visit, null);
  const result = await sendCode(service, visit, sent.typed);
  if (result.outcome === "sent") return remember(visit, { ...sent, to: result.to });
  sendPage(service, visit.response, askCode(visit, sent.typed, "notSentAgain"));
};

/**
 * Requests from one address wait for each other, without holding a connection; a known browser does not wait for
 * strangers.
 */
function sendCode(service: IdentityService, visit: Visit, address: string): Promise<SendOutcome> {
  const { callers, pool } = service;
  const { request, interaction, texts } = visit;
  const client = addressBucket(callers.clientAddress(request));
  const browser = callers.knownBrowsers.of(request);
  const by = { signIn: interaction.uid, client, browser, locale: texts.locale };
  return inTransaction(pool, (tx) => sendSignInCode(service, tx, address, by), {
    key: `sign-in ${browser?.id ?? client}`,
  });
}

/** The browser that signs in, and what the audit says of it. */
function whoOf({ callers }: IdentityService, { request, response, interaction }: Visit) {
  const by = {
    credential: String(interaction.params.client_id),
    address: callers.clientAddress(request),
    requestId: requestId(response),
  };
  return { browser: callers.knownBrowsers.of(request), userAgent: request.headers["user-agent"], by };
}

const takeCode: Step = async (service, visit, fields) => {
  const { response, interaction, form, link, texts } = visit;
  const { locale } = texts;
  const sent = sentCodeOf(visit);
  if (!sent) return sendPage(service, response, addressPage(texts, form, { address: "" }, null));
  const code = (fields.get("code") ?? "").slice(0, 64);
  const signIn = interaction.uid;
  const who = whoOf(service, visit);
  const invitation = link?.folder === "invitations" ? link.token : null;
  const typed = { signIn, address: sent.to, code, locale, invitation, ...who };
  const result = await inTransaction<SignInOutcome | FirstLinkOutcome>(service.pool, async (tx) => {
    if (link?.folder === "first-link")
      return completeFirstLink(service, tx, { ...typed, token: link.token, name: sent.name ?? "" });
    const completed = await completeSignIn(service, tx, typed);
    if (completed.outcome === "signed-in") await tellOfCode(service, tx, completed.accountId, who);
    return completed;
  });
  switch (result.outcome) {
    case "code-refused":
      return sendPage(service, response, askCode(visit, sent.typed, result.why));
    case "address-taken":
      return sendPage(
        service,
        response,
        addressPage(texts, form, { address: sent.typed, name: sent.name ?? "" }, texts.pages.firstLink.addressTaken),
      );
    case "first-link-ended":
      await interaction.destroy();
      return sendPage(service, response, firstLinkEndedPage(texts, 410));
    case "not-registered":
      await interaction.destroy();
      return sendPage(service, response, notRegisteredPage(texts, brandOf(service)));
    default:
      return conclude(service, visit, result);
  }
};

const takePasskey: Step = async (service, visit, fields) => {
  const { texts, form, interaction, response } = visit;
  const presented = form.passkey?.ceremony !== "get" ? null : readPresentedPasskey(fields.get("response") ?? "");
  const used = presented && { presented, belongsTo: ceremonyOf(interaction.uid), ...whoOf(service, visit) };
  const verified = used && (await verifyPasskey(service, used));
  const result = verified
    ? await inTransaction(service.pool, (tx) => signInByPasskey(service, tx, verified, used))
    : null;
  if (result === null || result.outcome === "refused") {
    return sendPage(service, response, addressPage(texts, form, { address: "" }, texts.pages.passkeys.refused));
  }
  await conclude(service, visit, result);
};

/** Makes the passkey of the first administrator, by which they sign in from then on. */
const takeNewPasskey: Step = async (service, visit, fields) => {
  const { texts, form, interaction, response, link } = visit;
  if (link?.folder !== "first-link") return sendPage(service, response, refusedPage(texts));
  const made = await verifyNewPasskey(service, firstCeremonyOf(interaction.uid), fields.get("response") ?? "");
  const { userAgent, by } = whoOf(service, visit);
  const name = browserNameOf(userAgent) ?? "Passkey";
  const result =
    made &&
    (await inTransaction(service.pool, (tx) =>
      completeFirstLinkByPasskey(service, tx, { token: link.token, made, name, by }),
    ));
  switch (result?.outcome) {
    case "signed-in":
      return conclude(service, visit, result);
    case "first-link-ended":
      await interaction.destroy();
      return sendPage(service, response, firstLinkEndedPage(texts, 410));
    default:
      return sendPage(service, response, addressPage(texts, form, { address: "" }, texts.pages.passkeys.notAdded));
  }
};

/** Ends a visit whose person has proved who they are. */
async function conclude(
  service: IdentityService,
  visit: Visit,
  result: Exclude<PasskeySignIn, { outcome: "refused" }>,
): Promise<void> {
  const { request, response, interaction, texts } = visit;
  if (result.outcome === "account-deleted") {
    await interaction.destroy();
    return sendPage(service, response, deletedPage(texts, result));
  }
  service.callers.knownBrowsers.remember(request, response, result.accountId);
  return finish(visit, result.accountId);
}

/** The steps, by the prompt of the visit and the name of the submitted form. */
const steps: ReadonlyMap<string, Step> = new Map<string, Step>([
  ["login address", takeAddress],
  ["login code", takeCode],
  ["login passkey", takePasskey],
  ["login new-passkey", takeNewPasskey],
  ["login resend", resend],
  ["login restart", (_service, visit) => remember(visit, null)],
  ["consent allow", (service, visit) => allowConsent(service, visit)],
  ["consent deny", (_service, visit) => denyConsent(visit)],
]);
