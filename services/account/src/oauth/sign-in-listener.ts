import type { IncomingMessage, ServerResponse } from "node:http";
import { addressBucket, type ClientAddress } from "@signalbox/http";
import { inTransaction, type Pool } from "@signalbox/storage";
import type Provider from "oidc-provider";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { RedeemOutcome } from "../codes/one-time-codes.ts";
import { type Page, sendPage } from "../pages/page.ts";
import type { SendOutcome, SignIns } from "../sign-ins/sign-ins.ts";
import type { IssuerAddress } from "./issuer-address.ts";
import type { KnownBrowsers } from "./known-browser.ts";
import { addressPage, codePage, deletedPage, lostPage, refusedPage, tooManyPage } from "./pages.ts";
import { type RequestLimits, tellCount } from "./request-limits.ts";
import { finish, guardedFields, openVisit, remember, sentCodeOf, type Visit } from "./sign-in-visit.ts";

export type SignInListener = ReturnType<typeof createSignInListener>;

interface Dependencies {
  readonly pool: Pool;
  readonly address: Pick<IssuerAddress, "path">;
  readonly signIns: Pick<SignIns, "sendCode" | "complete">;
  readonly cookieKeys: readonly string[];
  readonly clientAddress: ClientAddress;
  readonly limits: Pick<RequestLimits, "signIn" | "stray">;
  readonly knownBrowsers: KnownBrowsers;
}

/** The pages on which a person signs in: an address, then the code that was mailed there. */
export function createSignInListener(dependencies: Dependencies) {
  const { limits } = dependencies;

  /** Answers a request below `/oauth/sign-in/`; `uid` is the rest of its path. */
  return async function answerSignIn(
    provider: Provider,
    uid: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const visit = await openVisit(provider, uid, request, response, dependencies);
    const count = visit ? limits.signIn(uid) : limits.stray(request);
    tellCount(response, count);
    if (!count.allowed) return sendPage(response, tooManyPage);
    if (!visit) return sendPage(response, lostPage);
    if (request.method === "GET" || request.method === "HEAD") return sendPage(response, pageOf(visit));
    const fields = await guardedFields(visit);
    const step = fields && steps.get(fields.get("step") ?? "");
    if (!step) return sendPage(response, refusedPage);
    await step(visit, fields, dependencies);
  };
}

function pageOf(visit: Visit): Page {
  const sent = sentCodeOf(visit);
  if (sent) return codePage(visit.form, sent.typed, null);
  const hint = visit.interaction.params.login_hint;
  const isAddress = typeof hint === "string" && checkContactAddress(hint) === null;
  return addressPage(visit.form, isAddress ? hint : "", null);
}

type Step = (visit: Visit, fields: URLSearchParams, dependencies: Dependencies) => Promise<void>;

const takeAddress: Step = async (visit, fields, dependencies) => {
  const typed = normalized(fields.get("address") ?? "").trim();
  if (checkContactAddress(typed) !== null) {
    const problem = "This is not an e-mail address. Write it like name@example.org.";
    return sendPage(visit.response, addressPage(visit.form, typed.slice(0, 254), problem));
  }
  const result = await sendCode(visit, typed, dependencies);
  if (result.outcome === "sent") return remember(visit, { typed, to: result.to });
  sendPage(visit.response, addressPage(visit.form, typed, notSent));
};

const resend: Step = async (visit, _fields, dependencies) => {
  const sent = sentCodeOf(visit);
  if (!sent) return remember(visit, null);
  const result = await sendCode(visit, sent.typed, dependencies);
  if (result.outcome === "sent") return remember(visit, { ...sent, to: result.to });
  sendPage(visit.response, codePage(visit.form, sent.typed, notSentAgain));
};

/** Those who ask from one address wait for each other, and not with a connection; a known browser waits for none of them. */
function sendCode({ request, interaction }: Visit, address: string, dependencies: Dependencies): Promise<SendOutcome> {
  const { pool, signIns, clientAddress, knownBrowsers } = dependencies;
  const client = addressBucket(clientAddress(request));
  const browser = knownBrowsers.of(request);
  const by = { signIn: interaction.uid, client, browser };
  return inTransaction(pool, (tx) => signIns.sendCode(tx, address, by), { key: `sign-in ${browser?.id ?? client}` });
}

const takeCode: Step = async (visit, fields, { pool, signIns, clientAddress, knownBrowsers }) => {
  const { request, response, interaction, form } = visit;
  const sent = sentCodeOf(visit);
  if (!sent) return sendPage(response, addressPage(form, "", null));
  const code = (fields.get("code") ?? "").slice(0, 64);
  const signIn = interaction.uid;
  const by = {
    credential: String(interaction.params.client_id),
    address: clientAddress(request),
    requestId: String(response.getHeader("x-request-id") ?? "") || null,
  };
  const result = await inTransaction(pool, (tx) => signIns.complete(tx, { signIn, address: sent.to, code, by }));
  switch (result.outcome) {
    case "code-refused":
      return sendPage(response, codePage(form, sent.typed, problems[result.why]));
    case "account-deleted":
      await interaction.destroy();
      return sendPage(response, deletedPage);
    case "signed-in":
      knownBrowsers.remember(request, response, result.accountId);
      return finish(visit, result.accountId);
  }
};

const problems: Readonly<Record<Exclude<RedeemOutcome, "good">, string>> = {
  wrong: "This is not the code of this sign-in. Type the one from the newest e-mail that you asked for here.",
  expired: "This code is older than ten minutes. Ask for another one.",
  "used-up": "This code does not work any more. Ask for another one.",
};

const notSent =
  "No code was sent. Too many were requested for this address or from your network within the last hour. Try again later.";
const notSentAgain =
  "No other code was sent, because too many were requested within the last hour. The last code still works until it is ten minutes old.";

/** By the name of the form that is sent. */
const steps: ReadonlyMap<string, Step> = new Map([
  ["address", takeAddress],
  ["code", takeCode],
  ["resend", resend],
  ["restart", (visit) => remember(visit, null)],
]);
