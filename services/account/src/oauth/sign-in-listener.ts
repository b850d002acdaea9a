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
import type { SendOutcome, SignInOutcome, SignIns } from "../sign-ins/sign-ins.ts";
import { fill, minutesIn } from "../texts/texts.ts";
import { type Callers, tellCount } from "./callers.ts";
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
import { finish, guardedFields, openVisit, remember, sentCodeOf, type Visit } from "./sign-in-visit.ts";

export type SignInListener = ReturnType<typeof createSignInListener>;

interface Dependencies {
  readonly pool: Pool;
  readonly settings: IssuerSettings;
  readonly signIns: Pick<SignIns, "sendCode" | "complete">;
  readonly firstLinks: Pick<FirstLinks, "complete">;
  readonly callers: Callers;
  readonly pages: Pages;
}

/** The sign-in pages: they ask for an address, then for the code mailed to it. */
export function createSignInListener(dependencies: Dependencies) {
  const { settings, pages } = dependencies;
  const { limits } = dependencies.callers;

  /** Answers a request below `/oauth/sign-in/`; `uid` is the rest of its path. */
  return async function answerSignIn(
    provider: Provider,
    uid: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const visit = await openVisit(provider, uid, request, response, { settings, pages });
    const count = visit ? limits.signIn(uid) : limits.stray(request);
    tellCount(response, count);
    const texts = visit?.texts ?? pages.textsFor(request.headers);
    if (!count.allowed) return pages.send(response, tooManyPage(texts));
    if (!visit) return pages.send(response, lostPage(texts));
    if (request.method === "GET" || request.method === "HEAD") return pages.send(response, pageOf(visit));
    const fields = await guardedFields(visit);
    const step = fields && steps.get(fields.get("step") ?? "");
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
  const { pool, signIns } = dependencies;
  const { clientAddress, knownBrowsers } = dependencies.callers;
  const client = addressBucket(clientAddress(request));
  const browser = knownBrowsers.of(request);
  const by = { signIn: interaction.uid, client, browser, locale: texts.locale };
  return inTransaction(pool, (tx) => signIns.sendCode(tx, address, by), { key: `sign-in ${browser?.id ?? client}` });
}

const takeCode: Step = async (visit, fields, { pool, signIns, firstLinks, callers, pages }) => {
  const { clientAddress, knownBrowsers } = callers;
  const { request, response, interaction, form, link, texts } = visit;
  const { locale } = texts;
  const sent = sentCodeOf(visit);
  if (!sent) return pages.send(response, addressPage(texts, form, { address: "" }, null));
  const code = (fields.get("code") ?? "").slice(0, 64);
  const signIn = interaction.uid;
  const by = {
    credential: String(interaction.params.client_id),
    address: clientAddress(request),
    requestId: String(response.getHeader("x-request-id") ?? "") || null,
  };
  const who = { browser: knownBrowsers.of(request), userAgent: request.headers["user-agent"], by };
  const invitation = link?.folder === "invitations" ? link.token : null;
  const typed = { signIn, address: sent.to, code, locale, invitation, ...who };
  const result = await inTransaction<SignInOutcome | FirstLinkOutcome>(pool, (tx) =>
    link?.folder === "first-link"
      ? firstLinks.complete(tx, { ...typed, token: link.token, name: sent.name ?? "" })
      : signIns.complete(tx, typed),
  );
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
    case "account-deleted":
      await interaction.destroy();
      return pages.send(response, deletedPage(texts, result));
    case "signed-in":
      knownBrowsers.remember(request, response, result.accountId);
      return finish(visit, result.accountId);
  }
};

/** The steps, by the name of the submitted form. */
const steps: ReadonlyMap<string, Step> = new Map([
  ["address", takeAddress],
  ["code", takeCode],
  ["resend", resend],
  ["restart", (visit) => remember(visit, null)],
]);
