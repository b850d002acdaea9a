import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { stateRefusal } from "@signalbox/auth";
import { displayName } from "@signalbox/contracts";
import { inTransaction } from "@signalbox/storage";
import { stateOf } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import { type Html, html, Html as Markup, type Page } from "../pages/page.ts";
import { sendPage, textsForReader } from "../pages/pages.ts";
import { creationOptions, isPasskeyPossible, verifyNewPasskey } from "../passkeys/ceremonies.ts";
import { type Passkey, passkeysMax } from "../passkeys/passkey.ts";
import { passkeyScript } from "../passkeys/passkey-script.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { addPasskey } from "../passkeys/passkeys.ts";
import { fill, type Texts } from "../texts/texts.ts";
import { isForm, readFormBody } from "./callers/request-form.ts";
import { blockedPage, goTo, type SignedIn, signedInPerson } from "./home-page.ts";
import type { IdentityService } from "./identity-service.ts";
import { signInUrl } from "./issuer-settings.ts";
import { refusedPage } from "./sign-in-pages.ts";
import { isFromOurPage, requestId } from "./sign-in-visit.ts";

/** A form is good for as long as a ceremony may take, and a little longer. */
const formLifeMs = 10 * 60_000;

/** Answers with the script, the same for everybody. */
export function sendScript(request: IncomingMessage, response: ServerResponse): void {
  const etag = `"${createHash("sha256").update(passkeyScript).digest("base64url").slice(0, 22)}"`;
  const headers = { "Cache-Control": "public, max-age=300", ETag: etag, "X-Content-Type-Options": "nosniff" };
  if (request.headers["if-none-match"] === etag) return void response.writeHead(304, headers).end();
  response.writeHead(200, { ...headers, "Content-Type": "text/javascript; charset=utf-8" });
  response.end(request.method === "HEAD" ? undefined : passkeyScript);
}

export async function answerPasskeys(
  service: IdentityService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A sign-in of our own returns with a code, which nobody needs.
  if (request.url?.includes("?")) return goTo(response, `${service.settings.address.path}/passkeys`);
  const who = await signedInPerson(service, [request, response]);
  if (!who?.isRecent)
    return sendPage(
      service,
      response,
      signInPage(textsForReader(service, request.headers), who, service.settings.address.issuer),
    );
  if (request.method !== "POST") return sendPage(service, response, await listPage(service, request, who, null));
  await add(service, request, response, who);
}

/** A new passkey gives access, so its holder has to have signed in a moment ago. */
function signInPage(texts: Texts, who: SignedIn | null, issuer: string): Page {
  const { passkeys, signInToConfirm } = texts.pages;
  const again = who === null ? passkeys.text : passkeys.signInAgain;
  const content = html`<p>${again}</p>
<p><a href="${signInUrl(issuer, { folder: "passkeys", token: "passkeys" })}">${signInToConfirm.button}</a></p>`;
  return { status: 200, texts, title: passkeys.title, content };
}

type Problem = "notAdded" | "badName" | "tooMany";

async function listPage(
  service: IdentityService,
  request: IncomingMessage,
  { account, session }: SignedIn,
  problem: Problem | null,
): Promise<Page> {
  const { pool, clock, settings } = service;
  const texts = textsForReader(service, request.headers);
  const { passkeys: words } = texts.pages;
  const known = await passkeysOf(pool, account.id);
  const count = String(known.length);
  const isFull = known.length >= passkeysMax;
  const at = String(clock.nowMs());
  const options =
    isFull || !isPasskeyPossible(service)
      ? null
      : await creationOptions(service, ceremonyOf(session, at), {
          accountId: account.id,
          label: labelOf(account),
          known,
        });
  const alert = problem === null ? null : html`<p class="problem" role="alert">${fill(words[problem], { count })}</p>`;
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: words.title,
    script: `${settings.address.issuer}/passkeys.js`,
    content: html`<p>${words.text}</p>
${alert}
${namesOf(known)}
${isFull ? html`<p>${fill(words.tooMany, { count })}</p>` : html`<p data-without-passkey>${words.needsScript}</p>`}
${options === null ? null : addForm(texts, `${settings.address.path}/passkeys`, at, options)}`,
  };
}

function namesOf(known: readonly Passkey[]): Html | null {
  const items = known.map(({ name }) => html`<li>${name}</li>`.text);
  return items.length === 0 ? null : html`<ul>${new Markup(items.join("\n"))}</ul>`;
}

const addForm = (texts: Texts, action: string, at: string, options: object): Html => {
  const { passkeys: words } = texts.pages;
  return html`<form method="post" action="${action}" data-passkey="create" data-options="${JSON.stringify(options)}" hidden>
<input type="hidden" name="at" value="${at}">
<input type="hidden" name="response" value="">
<p class="problem" role="alert" data-problem hidden>${words.notAdded}</p>
<label for="name">${words.name}</label>
<p class="hint" id="hint">${words.nameHint}</p>
<input id="name" name="name" type="text" maxlength="100" required aria-describedby="hint">
<button type="submit" class="main">${words.add}</button>
</form>`;
};

/** A ceremony belongs to a session and to a moment, so its challenge is also what a foreign page cannot know. */
const ceremonyOf = (session: string, at: string): string => `new ${session} ${at}`;

async function add(
  service: IdentityService,
  request: IncomingMessage,
  response: ServerResponse,
  who: SignedIn,
): Promise<void> {
  const { clock, callers, pool, accountStore, settings } = service;
  const body = isForm(request) && isFromOurPage(request) ? await readFormBody(request) : null;
  if (body === null) return sendPage(service, response, refusedPage(textsForReader(service, request.headers)));
  const fields = new URLSearchParams(body.toString());
  const refuse = async (problem: Problem) =>
    sendPage(service, response, await listPage(service, request, who, problem));
  const name = displayName.safeParse(fields.get("name") ?? "");
  if (!name.success) return refuse("badName");
  const at = fields.get("at") ?? "";
  const isOpen = Math.abs(clock.nowMs() - Number(at)) < formLifeMs;
  const made = isOpen
    ? await verifyNewPasskey(service, ceremonyOf(who.session, at), fields.get("response") ?? "")
    : null;
  if (!made) return refuse("notAdded");
  const accountId = who.account.id;
  const from = { address: callers.clientAddress(request), requestId: requestId(response) };
  const by = { kind: "owner", accountId, credential: "passkey page", ...from } as const;
  const result = await inTransaction(pool, async (tx) => {
    const account = await accountStore.lock(tx, accountId);
    if (!account || stateRefusal(stateOf(account), "own-account:write")) return null;
    return addPasskey(service, tx, account, name.data, made, by);
  });
  if (result === null) return sendPage(service, response, blockedPage(textsForReader(service, request.headers)));
  if (result.outcome === "added") return goTo(response, `${settings.address.path}/passkeys`);
  return refuse(result.outcome === "limit-reached" ? "tooMany" : "notAdded");
}
