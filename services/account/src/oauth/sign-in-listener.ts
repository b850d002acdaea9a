import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sameDigest } from "@signalbox/auth";
import type Provider from "oidc-provider";
import { errors, type Interaction } from "oidc-provider";
import { checkContactAddress, normalized } from "../accounts/account-fields.ts";
import type { RedeemOutcome } from "../codes/one-time-codes.ts";
import { formTargetOf, type Page, sendPage } from "../pages/page.ts";
import { endOtherSession } from "./end-other-session.ts";
import { isForm, readFormBody } from "./form-body.ts";
import type { IssuerAddress } from "./issuer-address.ts";
import type { SendSignInCodeVerb } from "./send-sign-in-code.ts";
import type { SignInVerb } from "./sign-in.ts";
import { addressPage, codePage, deletedPage, lostPage, refusedPage, type SignInForm } from "./sign-in-pages.ts";

interface Dependencies {
  readonly address: IssuerAddress;
  readonly sendSignInCode: SendSignInCodeVerb;
  readonly signIn: SignInVerb;
  /** The keys of the cookies; the first guards the forms. */
  readonly cookieKeys: readonly string[];
  readonly clientAddress: (request: IncomingMessage) => string;
}

/** One request of a browser in the middle of a sign-in. */
interface Visit {
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly interaction: Interaction;
  readonly form: SignInForm;
}

/** What is remembered between the two steps, sealed, on our side. */
interface Sent {
  readonly typed: string;
  readonly to: string;
}

const problems: Readonly<Record<Exclude<RedeemOutcome, "good">, string>> = {
  wrong: "This is not the code that we have sent last. Type it as it stands in the mail.",
  expired: "This code is older than ten minutes. Send yourself another one.",
  "used-up": "This code does not work any more. Send yourself another one.",
};

/** The pages on which a person signs in: an address, then the code that was mailed there. */
export function createSignInListener(dependencies: Dependencies) {
  const { address, sendSignInCode, signIn, cookieKeys, clientAddress } = dependencies;
  const steps = new Map<string, (visit: Visit, fields: URLSearchParams) => Promise<void>>([
    ["address", takeAddress],
    ["code", takeCode],
    ["resend", resend],
    ["restart", (visit) => remember(visit, null)],
  ]);

  /** Answers a request below `/oauth/sign-in/`; `uid` is the rest of its path. */
  return async function answerSignIn(
    provider: Provider,
    uid: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const interaction = await underWay(provider, uid, request, response);
    if (!interaction) return sendPage(response, lostPage);
    const form = await formOf(provider, interaction);
    const visit = { provider, request, response, interaction, form };
    if (request.method === "GET" || request.method === "HEAD") return sendPage(response, pageOf(visit));
    const fields = await guardedFields(visit);
    const step = fields && steps.get(fields.get("step") ?? "");
    if (!step) return sendPage(response, refusedPage);
    await step(visit, fields);
  };

  async function takeAddress(visit: Visit, fields: URLSearchParams): Promise<void> {
    const typed = normalized(fields.get("address") ?? "").trim();
    if (checkContactAddress(typed) !== null) {
      const problem = "This is not an e-mail address. It looks like name@example.org.";
      return sendPage(visit.response, addressPage(visit.form, typed.slice(0, 254), problem));
    }
    await remember(visit, { typed, to: await sendSignInCode(typed) });
  }

  async function resend(visit: Visit): Promise<void> {
    const sent = sentOf(visit.interaction);
    await remember(visit, sent && { ...sent, to: await sendSignInCode(sent.typed) });
  }

  async function takeCode(visit: Visit, fields: URLSearchParams): Promise<void> {
    const { provider, request, response, interaction, form } = visit;
    const sent = sentOf(interaction);
    if (!sent) return sendPage(response, addressPage(form, "", null));
    const result = await signIn({
      address: sent.to,
      code: (fields.get("code") ?? "").slice(0, 64),
      by: {
        credential: String(interaction.params.client_id),
        address: clientAddress(request),
        requestId: String(response.getHeader("x-request-id") ?? "") || null,
      },
    });
    switch (result.outcome) {
      case "code-refused":
        return sendPage(response, codePage(form, sent.typed, problems[result.why]));
      case "account-deleted":
        await interaction.destroy();
        return sendPage(response, deletedPage);
      case "signed-in": {
        const { accountId } = result;
        await endOtherSession(provider, interaction, accountId);
        const login = { accountId };
        await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
      }
    }
  }

  /** Keeps what was sent, and lets the browser ask for the next page, which it may then reload. */
  async function remember({ interaction, response, form }: Visit, sent: Sent | null): Promise<void> {
    interaction.lastSubmission = sent ? { sent } : {};
    await interaction.persist();
    response.writeHead(303, { Location: form.action, "Content-Length": "0" });
    response.end();
  }

  async function formOf(provider: Provider, { uid, params }: Interaction): Promise<SignInForm> {
    const client = await provider.Client.find(String(params.client_id));
    return {
      action: `${address.path}/sign-in/${uid}`,
      guard: guardOf(uid),
      application: client?.clientName ?? String(params.client_id),
      formTargets: [formTargetOf(String(params.redirect_uri))],
    };
  }

  /** The fields of a form that came from a page of this sign-in; null for anything else. */
  async function guardedFields({ request, form }: Visit): Promise<URLSearchParams | null> {
    const site = request.headers["sec-fetch-site"];
    // `none` is a page that its reader reloads.
    const isOurs = site === undefined || site === "same-origin" || site === "none";
    if (request.method !== "POST" || !isForm(request) || !isOurs) return null;
    const body = await readFormBody(request);
    if (body === null) return null;
    const fields = new URLSearchParams(body.toString());
    return sameDigest(Buffer.from(fields.get("guard") ?? ""), Buffer.from(form.guard)) ? fields : null;
  }

  /** The cookie makes a sign-in one browser's own; the guard shows that a form is from its page. */
  function guardOf(uid: string): string {
    return createHmac("sha256", cookieKeys[0] ?? "")
      .update(`sign-in form ${uid}`)
      .digest("base64url");
  }
}

/** The sign-in of this address and of this browser's cookie; null when they are not the same or it is over. */
async function underWay(
  provider: Provider,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | null> {
  try {
    const interaction = await provider.interactionDetails(request, response);
    return interaction.uid === uid && interaction.prompt.name === "login" ? interaction : null;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return null;
    throw error;
  }
}

function pageOf({ interaction, form }: Visit): Page {
  const sent = sentOf(interaction);
  if (sent) return codePage(form, sent.typed, null);
  const hint = interaction.params.login_hint;
  return addressPage(form, typeof hint === "string" && checkContactAddress(hint) === null ? hint : "", null);
}

const sentOf = ({ lastSubmission }: Interaction): Sent | null => (lastSubmission?.sent as Sent | undefined) ?? null;
