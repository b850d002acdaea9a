import { displayName } from "@signalbox/contracts";
import { addressBucket } from "@signalbox/http";
import { inTransaction } from "@signalbox/storage";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { RefusedCode } from "../codes/code-answers.ts";
import { lifeMs } from "../codes/one-time-codes.ts";
import {
  completeFirstLink,
  completeFirstLinkByPasskey,
  type FirstLinkOutcome,
  type FirstPasskeyOutcome,
} from "../first-link/first-links.ts";
import { providerOfAddress } from "../identity-providers/identity-provider.ts";
import { findInvitationOfLink } from "../invitations/invitation-acceptance.ts";
import { brandOf, type Exchange, type Page, sendPage, textsForReader } from "../pages/page.ts";
import { type PresentedPasskey, readPresentedPasskey, verifyNewPasskey } from "../passkeys/ceremonies.ts";
import { isPasskeyOfferDue, notePasskeyOfferAnswered } from "../passkeys/passkey-offers.ts";
import { findPasskeyByCredential } from "../passkeys/passkey-store.ts";
import { signInByRecoveryCode } from "../recovery-codes/recovery-codes.ts";
import {
  type NewPasskeySignIn,
  type PasskeySignIn,
  signInByPasskey,
  signInWithNewPasskey,
  tellOfCode,
  verifyPasskey,
} from "../sign-ins/passkey-sign-ins.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { completeSignIn, type SendOutcome, type SignInOutcome, sendSignInCode } from "../sign-ins/sign-ins.ts";
import { fill, minutesIn } from "../texts/texts.ts";
import { tellCount } from "./callers/callers.ts";
import { allowConsent, consentPageOf, denyAccess } from "./consent.ts";
import { answerConnect, answerProvider, askToConnect, loginPage, offerPage } from "./identity-provider-pages.ts";
import type { IdentityService } from "./identity-service.ts";
import {
  addressPage,
  codePage,
  deletedPage,
  firstLinkEndedPage,
  linkNotePage,
  notRegisteredPage,
  passkeyNeededPage,
  passkeyOfferPage,
  recoveryPage,
  refusedPage,
  tooManyPage,
} from "./sign-in-pages.ts";
import {
  ceremonyOf,
  changeState,
  finish,
  firstCeremonyOf,
  guardedFields,
  openVisit,
  provenIn,
  recoversIn,
  remember,
  sentCodeOf,
  stateOfVisit,
  type Visit,
  whoOf,
} from "./sign-in-visit.ts";
import { lostPage, withOtherAddress } from "./ways-on.ts";

/**
 * Answers a request below `/oauth/sign-in/`; `rest` is its path from there on: the id of
 * the sign-in, and the way to or from a provider. The pages ask for an address, then for the
 * code mailed to it, and some applications for consent.
 */
export async function answerSignIn(service: IdentityService, rest: string, exchange: Exchange): Promise<void> {
  const [uid = "", way, name = ""] = rest.split("/");
  const { limits } = service.callers;
  const { request, response } = exchange;
  const visit = await openVisit(service, uid, exchange);
  const count = visit ? limits.signIn(uid) : limits.stray(request);
  tellCount(response, count);
  const texts = visit?.texts ?? textsForReader(service, request.headers);
  if (!count.allowed) return sendPage(service, exchange, tooManyPage(texts));
  if (!visit) return sendPage(service, exchange, await lostPage(service, exchange, texts, uid));
  const prompt = visit.interaction.prompt.name;
  if (way !== undefined) {
    const isWay = prompt === "login" && (way === "with" || way === "from");
    return isWay
      ? answerProvider(service, visit, way, name)
      : sendPage(service, visit, refusedPage(texts, visit.form.action));
  }
  if (request.method === "GET" || request.method === "HEAD") {
    const page = prompt === "consent" ? await consentPageOf(service, visit) : await pageOf(service, visit);
    return sendPage(service, visit, page ?? (await lostPage(service, visit, texts, uid)));
  }
  const fields = await guardedFields(visit, visit.form.guard);
  const step = fields && steps.get(`${prompt} ${fields.get("step") ?? ""}`);
  if (!step) return sendPage(service, visit, refusedPage(texts, visit.form.action));
  await step(service, visit, fields);
}

async function pageOf(service: IdentityService, visit: Visit): Promise<Page> {
  if (provenIn(visit.interaction) !== null) return firstPasskeyPage(visit, null);
  if (recoversIn(visit.interaction)) return recoveryPage(visit.texts, visit.form, null);
  const sent = sentCodeOf(visit);
  if (sent) return askCode(service, visit, sent.typed, null);
  const page = await loginPage(service, visit);
  if (page) return page;
  const { link, interaction, texts, form } = visit;
  const hint = interaction.params.login_hint;
  const address = typeof hint === "string" && checkContactAddress(hint) === null ? hint : "";
  const invited = link?.folder === "invitations" ? await findInvitationOfLink(service, link.token) : null;
  return addressPage(texts, form, { address, name: invited?.invitation.name ?? "" }, null);
}

/** Asks for the first passkey of a person, who needs one or may go on without. */
function firstPasskeyPage(visit: Visit, problem: string | null): Page {
  const { texts, form } = visit;
  if (stateOfVisit(visit).offeredAt !== undefined) return passkeyOfferPage(texts, form, problem);
  return withOtherAddress(passkeyNeededPage(texts, form, problem), form);
}

type CodeProblem = RefusedCode | "notSentAgain";

function askCode(
  { configuration }: IdentityService,
  { texts, form }: Visit,
  typed: string,
  problem: CodeProblem | null,
): Page {
  const codeLifeMs = lifeMs["sign-in"];
  const text = problem && fill(texts.pages.code[problem], { minutes: minutesIn(texts, codeLifeMs) });
  return codePage(
    texts,
    form,
    { typed, lifeMs: codeLifeMs, isPrinted: configuration.get("mail.url") === "log:" },
    text,
  );
}

type Step = (service: IdentityService, visit: Visit, fields: URLSearchParams) => Promise<void>;

const takeAddress: Step = async (service, visit, fields) => {
  const { texts, form } = visit;
  const { signIn, firstLink } = texts.pages;
  const address = normalized(fields.get("address") ?? "").trim();
  const given = fields.get("name") ?? "";
  const hasName = form.asksName === "required" || (form.asksName === "optional" && given.trim() !== "");
  const name = hasName ? displayName.safeParse(given).data : "";
  const typed = { address: address.slice(0, 254), name: given.slice(0, 100) };
  const refuse = (problem: string) => sendPage(service, visit, addressPage(texts, form, typed, problem));
  if (name === undefined) return refuse(firstLink.notAName);
  if (checkContactAddress(address) !== null) return refuse(signIn.notAnAddress);
  const provider = fields.get("by") === "code" ? undefined : providerOfAddress(service.identityProviders, address);
  if (provider && form.providers.length > 0) {
    await changeState(visit, { hint: address });
    return sendPage(service, visit, offerPage(visit, provider, typed));
  }
  const result = await sendCode(service, visit, address);
  if (result.outcome !== "sent") return refuse(signIn.notSent);
  return remember(visit, { typed: address, to: result.to, name: hasName ? name : undefined });
};

const resend: Step = async (service, visit) => {
  const sent = sentCodeOf(visit);
  if (!sent) return remember(visit, null);
  const result = await sendCode(service, visit, sent.typed);
  if (result.outcome === "sent") return remember(visit, { ...sent, to: result.to });
  sendPage(service, visit, askCode(service, visit, sent.typed, "notSentAgain"));
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

const takeCode: Step = async (service, visit, fields) => {
  const { interaction, form, link, texts } = visit;
  const { locale } = texts;
  const sent = sentCodeOf(visit);
  if (!sent) return sendPage(service, visit, addressPage(texts, form, { address: "" }, null));
  const code = (fields.get("code") ?? "").slice(0, 64);
  const signIn = interaction.uid;
  const who = whoOf(service, visit);
  const invitation = link?.folder === "invitations" ? link.token : null;
  const typed = { signIn, address: sent.to, name: sent.name ?? null, code, locale, invitation, ...who };
  const result = await inTransaction<SignInOutcome | FirstLinkOutcome>(service.pool, async (tx) => {
    if (link?.folder === "first-link")
      return completeFirstLink(service, tx, { ...typed, token: link.token, name: sent.name ?? "" });
    const completed = await completeSignIn(service, tx, typed);
    if (completed.outcome === "signed-in") await tellOfCode(service, tx, completed.accountId, who);
    return completed;
  });
  switch (result.outcome) {
    case "code-refused":
      return sendPage(service, visit, askCode(service, visit, sent.typed, result.why));
    case "address-taken":
      return sendPage(
        service,
        visit,
        addressPage(texts, form, { address: sent.typed, name: sent.name ?? "" }, texts.pages.firstLink.addressTaken),
      );
    case "first-link-ended":
      await interaction.destroy();
      return sendPage(service, visit, firstLinkEndedPage(texts, 410));
    case "passkey-needed":
      if (!result.hasOne) return remember(visit, null, { proven: result.accountId });
      await changeState(visit, { sent: undefined });
      return sendPage(service, visit, addressPage(texts, form, { address: "" }, texts.pages.passkeyNeeded.use));
    case "not-registered":
      return sendPage(service, visit, withOtherAddress(notRegisteredPage(texts, brandOf(service)), form));
    default:
      return conclude(service, visit, result, fields.get("passkeys") === "yes");
  }
};

const takePasskey: Step = async (service, visit, fields) => {
  const { texts, form, interaction } = visit;
  const presented = form.passkey?.ceremony !== "get" ? null : readPresentedPasskey(fields.get("response") ?? "");
  const used = presented && { presented, belongsTo: ceremonyOf(interaction.uid), ...whoOf(service, visit) };
  const verified = used && (await verifyPasskey(service, used));
  const result = verified
    ? await inTransaction(service.pool, (tx) => signInByPasskey(service, tx, verified, used))
    : null;
  if (result === null || result.outcome === "refused") {
    const unknownPasskey = presented ? await unknownId(service, presented) : undefined;
    const page = addressPage(texts, form, { address: "", unknownPasskey }, texts.pages.passkeys.refused);
    return sendPage(service, visit, page);
  }
  await conclude(service, visit, result);
};

/** Signs in by a recovery code. Wrong ones count by client address. */
const takeRecoveryCode: Step = async (service, visit, fields) => {
  const { request, response, texts, form } = visit;
  const { limits } = service.callers;
  if (limits.recoveryCode(request, 0).remaining < 1) {
    tellCount(response, { ...limits.recoveryCode(request, 0), allowed: false });
    return sendPage(service, visit, tooManyPage(texts));
  }
  const code = (fields.get("recovery_code") ?? "").slice(0, 64);
  const typed = { code, ...whoOf(service, visit) };
  const result = await inTransaction(service.pool, (tx) => signInByRecoveryCode(service, tx, typed));
  if (result.outcome !== "refused") return conclude(service, visit, result);
  limits.recoveryCode(request);
  sendPage(service, visit, recoveryPage(texts, form, texts.pages.recovery.refused));
};

/** Returns the credential id of an unknown passkey, as its browser names it; undefined for a known one. */
async function unknownId({ pool }: IdentityService, { credentialId }: PresentedPasskey): Promise<string | undefined> {
  return (await findPasskeyByCredential(pool, credentialId)) ? undefined : credentialId.toString("base64url");
}

/** Makes the passkey of the first administrator, or of a person who needs one; from then on they sign in by it. */
const takeNewPasskey: Step = async (service, visit, fields) => {
  const { texts, form, interaction, link } = visit;
  const proven = provenIn(interaction);
  const { offeredAt } = stateOfVisit(visit);
  if (proven === null && link?.folder !== "first-link")
    return sendPage(service, visit, refusedPage(texts, visit.form.action));
  const made = await verifyNewPasskey(service, firstCeremonyOf(interaction.uid), fields.get("response") ?? "");
  const { userAgent, by } = whoOf(service, visit);
  const name = browserNameOf(userAgent) ?? "Passkey";
  const result =
    made &&
    (await inTransaction<FirstPasskeyOutcome | NewPasskeySignIn>(service.pool, (tx) =>
      proven === null
        ? completeFirstLinkByPasskey(service, tx, { token: link?.token ?? "", made, name, by, userAgent })
        : signInWithNewPasskey(service, tx, {
            accountId: proven,
            isOffered: offeredAt !== undefined,
            made,
            name,
            by,
            userAgent,
          }),
    ));
  // Whoever was offered one has signed in already, with it or without.
  if (proven !== null && offeredAt !== undefined && made) return finish(visit, proven, offeredAt);
  switch (result?.outcome) {
    case "signed-in":
      return conclude(service, visit, result);
    case "first-link-ended":
      await interaction.destroy();
      return sendPage(service, visit, firstLinkEndedPage(texts, 410));
    case "blocked":
      return sendPage(service, visit, withOtherAddress(linkNotePage(texts, 403, "linkBlocked"), form));
    default:
      if (proven !== null) return refuseNewPasskey(service, visit, made === null);
      return sendPage(service, visit, addressPage(texts, form, { address: "" }, texts.pages.passkeys.notAdded));
  }
};

/** Asks for the needed passkey once more, or begins again where the account has one by now. */
async function refuseNewPasskey(service: IdentityService, visit: Visit, isUnproven: boolean): Promise<void> {
  const { passkeys, passkeyNeeded: words } = visit.texts.pages;
  if (isUnproven) return sendPage(service, visit, firstPasskeyPage(visit, passkeys.notAdded));
  await changeState(visit, { proven: undefined });
  const form = { ...visit.form, passkey: null };
  sendPage(service, visit, addressPage(visit.texts, form, { address: "" }, words.use));
}

/** Goes on without the passkey that was offered. */
const declinePasskey: Step = async (service, visit) => {
  const { offeredAt, proven } = stateOfVisit(visit);
  if (offeredAt === undefined || proven === undefined) {
    return sendPage(service, visit, refusedPage(visit.texts, visit.form.action));
  }
  await inTransaction(service.pool, (tx) => notePasskeyOfferAnswered(service, tx, proven));
  await finish(visit, proven, offeredAt);
};

/** Ends a visit whose person has proved who they are; one whose device can hold a first passkey is offered it before. */
async function conclude(
  service: IdentityService,
  visit: Visit,
  result: Exclude<PasskeySignIn, { outcome: "refused" }>,
  canHoldPasskey = false,
): Promise<void> {
  const { request, response, texts, form } = visit;
  if (result.outcome === "account-deleted") {
    return sendPage(service, visit, withOtherAddress(deletedPage(texts, result), form));
  }
  service.callers.knownBrowsers.remember(request, response, result.accountId);
  if (await askToConnect(visit, result.accountId)) return;
  if (canHoldPasskey && form.passkey !== null && (await isPasskeyOfferDue(service, service.pool, result.accountId))) {
    return remember(visit, null, { proven: result.accountId, offeredAt: Math.floor(service.clock.nowMs() / 1000) });
  }
  return finish(visit, result.accountId);
}

/** The steps, by the prompt of the visit and the name of the submitted form. */
const steps: ReadonlyMap<string, Step> = new Map<string, Step>([
  ["login address", takeAddress],
  ["login code", takeCode],
  ["login passkey", takePasskey],
  ["login new-passkey", takeNewPasskey],
  ["login not-now", declinePasskey],
  ["login recovery", (_service, visit) => remember(visit, null, { recovers: true })],
  ["login recovery-code", takeRecoveryCode],
  ["login resend", resend],
  ["login restart", (_service, visit) => remember(visit, null)],
  ["login connect", (service, visit) => answerConnect(service, visit, true)],
  ["login skip", (service, visit) => answerConnect(service, visit, false)],
  ["login cancel", (_service, visit) => denyAccess(visit, "the person cancelled")],
  ["consent allow", (service, visit) => allowConsent(service, visit)],
  ["consent deny", (_service, visit) => denyAccess(visit, "the person did not allow it")],
]);
