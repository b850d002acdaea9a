import { createHash } from "node:crypto";
import { stateRefusal } from "@signalbox/auth";
import { displayName } from "@signalbox/contracts";
import { inTransaction } from "@signalbox/storage";
import { stateOf } from "../accounts/account.ts";
import { labelOf } from "../accounts/contact.ts";
import {
  type Exchange,
  goTo,
  type Html,
  html,
  Html as Markup,
  type Page,
  type PageRequest,
  sendPage,
} from "../pages/page.ts";
import { creationOptions, isPasskeyPossible, verifyNewPasskey } from "../passkeys/ceremonies.ts";
import { type Passkey, passkeysMax } from "../passkeys/passkey.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { addPasskey } from "../passkeys/passkeys.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { fill, type Texts } from "../texts/texts.ts";
import { type SignedIn, signedInPerson } from "./home-page.ts";
import type { IdentityService } from "./identity-service.ts";
import { signInUrl } from "./issuer-settings.ts";
import { linkNotePage, refusedPage } from "./sign-in-pages.ts";
import { originOf, ourFields } from "./sign-in-visit.ts";

/** A form is good for as long as a ceremony may take, and a little longer. */
const formLifeMs = 10 * 60_000;

/** Answers with a script of our pages, the same for everybody. */
export function sendScript({ request, response }: Exchange, script: string): void {
  const etag = `"${createHash("sha256").update(script).digest("base64url").slice(0, 22)}"`;
  const headers = { "Cache-Control": "public, max-age=300", ETag: etag, "X-Content-Type-Options": "nosniff" };
  if (request.headers["if-none-match"] === etag) return void response.writeHead(304, headers).end();
  response.writeHead(200, { ...headers, "Content-Type": "text/javascript; charset=utf-8" });
  response.end(request.method === "HEAD" ? undefined : script);
}

export async function answerPasskeys(service: IdentityService, asked: PageRequest): Promise<void> {
  const { request, texts } = asked;
  const { address } = service.settings;
  // A sign-in of our own returns with a code, which nobody needs.
  if (request.url?.includes("?")) return goTo(asked, `${address.path}/passkeys`);
  const who = await signedInPerson(service, asked);
  if (!who?.isRecent) return sendPage(service, asked, signInPage(texts, who, address.issuer));
  if (request.method !== "POST") return sendPage(service, asked, await listPage(service, texts, who, null));
  await add(service, asked, who);
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
  texts: Texts,
  { account, session }: SignedIn,
  problem: Problem | null,
): Promise<Page> {
  const { pool, clock, settings } = service;
  const { passkeys: words } = texts.pages;
  const known = await passkeysOf(pool, account.id);
  const count = String(known.length);
  const isFull = known.length >= passkeysMax;
  const at = String(clock.nowMs());
  const holder = { accountId: account.id, label: labelOf(account), known };
  const mayAdd = !isFull && isPasskeyPossible(service);
  const options = mayAdd ? await creationOptions(service, ceremonyOf(session, at), holder) : null;
  const alert =
    problem === null
      ? null
      : html`<p class="problem" role="alert">${fill(words[problem], { count, name: known.at(-1)?.name ?? "" })}</p>`;
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
<p class="problem" role="alert" data-problem data-already-there="${words.alreadyThere}" hidden>${words.notAdded}</p>
<label for="name">${words.name}</label>
<p class="hint" id="hint">${words.nameHint}</p>
<input id="name" name="name" type="text" maxlength="100" required aria-describedby="hint">
<button type="submit" class="main">${words.add}</button>
</form>`;
};

/** A ceremony belongs to a session and to a moment, so its challenge is also what a foreign page cannot know. */
const ceremonyOf = (session: string, at: string): string => `new ${session} ${at}`;

async function add(service: IdentityService, asked: PageRequest, who: SignedIn): Promise<void> {
  const { clock, pool, accountStore, settings } = service;
  const { texts } = asked;
  const fields = await ourFields(asked.request);
  if (fields === null) return sendPage(service, asked, refusedPage(texts));
  const refuse = async (problem: Problem) => sendPage(service, asked, await listPage(service, texts, who, problem));
  // The device has made the passkey already: without a usable name it gets the browser's.
  const given = displayName.safeParse(fields.get("name") ?? "").data;
  const name = given ?? browserNameOf(asked.request.headers["user-agent"]) ?? "Passkey";
  const at = fields.get("at") ?? "";
  const isOpen = Math.abs(clock.nowMs() - Number(at)) < formLifeMs;
  const made = isOpen
    ? await verifyNewPasskey(service, ceremonyOf(who.session, at), fields.get("response") ?? "")
    : null;
  if (!made) return refuse("notAdded");
  const accountId = who.account.id;
  const by = { kind: "owner", accountId, credential: "passkey page", ...originOf(service, asked) } as const;
  const result = await inTransaction(pool, async (tx) => {
    const account = await accountStore.lock(tx, accountId);
    if (!account || stateRefusal(stateOf(account), "own-account:write")) return null;
    return addPasskey(service, tx, account, name, made, by);
  });
  if (result === null) return sendPage(service, asked, linkNotePage(texts, 403, "linkBlocked"));
  if (result.outcome === "added" && given === undefined) return refuse("badName");
  if (result.outcome === "added") return goTo(asked, `${settings.address.path}/passkeys`);
  return refuse(result.outcome === "limit-reached" ? "tooMany" : "notAdded");
}
