import { tabStorage } from "./browser-storage.ts";
import {
  completeSignIn,
  findIssuer,
  type Issuer,
  renewSilently,
  type StartedSignIn,
  startSignIn,
  type Tokens,
} from "./issuer.ts";
import { callbackUrl, consoleUrl } from "./place.ts";
import { Store } from "./store.ts";

/** The state of the sign-in. A credential stays in the memory of this page and is stored nowhere. */
type SessionState =
  | { readonly kind: "starting" }
  | { readonly kind: "signed-out"; readonly issuer: Issuer | null; readonly problem: string | null }
  | { readonly kind: "signed-in"; readonly credential: Credential; readonly asks: Ask | null };

type Credential =
  | ({ readonly kind: "token" } & Tokens)
  | { readonly kind: "key"; readonly apiKey: string }
  | { readonly kind: "portal"; readonly secret: string; readonly renew: () => Promise<boolean> };

/** A request that waits for the person: the sign-in has ended, or a change needs a recent one. */
export interface Ask {
  readonly reason: "ended" | "recent";
  readonly problem: string | null;
}

/** Entry of the session storage: a sign-in that this tab has left for. It holds no token. */
const place = "signalbox console sign-in";
/** Channel on which the window of a sign-in passes the issuer's answer to the page that opened it. */
const channelName = "signalbox console";
const popupName = "signalbox-sign-in";
/** A token is renewed this long before it ends, so that no request meets a dead one. */
const renewEarlyMs = 60_000;

/** The state of the sign-in of this page. */
export const sessionState = new Store<SessionState>({ kind: "starting" });

let issuer: Issuer | null = null;
let renewal: Promise<boolean> | null = null;
let waiting: Array<(isSignedIn: boolean) => void> = [];

/** Returns true for a session whose credential was not refused. */
export const isSignedIn = (): boolean => sessionState.value.kind === "signed-in" && sessionState.value.asks === null;

/** Finds out who is signed in: by the answer of the issuer in the address, or by its session with this browser. */
export async function startSession(): Promise<void> {
  if (location.pathname === callbackUrl.pathname && window.name === popupName) return passAnswer();
  try {
    issuer = await findIssuer();
    const tokens =
      location.pathname === callbackUrl.pathname ? await answered() : issuer && (await renewSilently(issuer));
    if (tokens) sessionState.set({ kind: "signed-in", credential: { kind: "token", ...tokens }, asks: null });
    else sessionState.set({ kind: "signed-out", issuer, problem: null });
  } catch (error) {
    sessionState.set({ kind: "signed-out", issuer, problem: (error as Error).message });
  }
}

/** Runs in the window of a sign-in: hands the answer to the page behind it, which alone has the verifier. */
function passAnswer(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(location.search);
  channel.close();
  window.close();
}

async function answered(): Promise<Tokens | null> {
  const started: StartedSignIn | null = JSON.parse(tabStorage.get(place) ?? "null");
  const answer = new URLSearchParams(location.search);
  tabStorage.remove(place);
  history.replaceState(null, "", started?.returnTo ?? consoleUrl.href);
  return issuer && completeSignIn(issuer, answer, started);
}

/** Leaves for the issuer in this tab. */
export async function leaveForSignIn(prompt?: "login"): Promise<void> {
  if (!issuer) return;
  const { url, started } = await startSignIn(issuer, prompt ? { prompt } : {});
  tabStorage.set(place, JSON.stringify(started));
  location.assign(url);
}

/** Works with an API key, which is typed in and kept in memory like a token. */
export function signInWithKey(apiKey: string): void {
  sessionState.set({ kind: "signed-in", credential: { kind: "key", apiKey }, asks: null });
}

/** Works with the secret of a link into the portal; `renew` gets another one in its place, or returns false. */
export function signInWithPortal(secret: string, renew: () => Promise<boolean>): void {
  sessionState.set({ kind: "signed-in", credential: { kind: "portal", secret, renew }, asks: null });
}

/** Notes that the link has ended; the page stays as it is. */
export function endPortal(): void {
  if (sessionState.value.kind === "signed-in")
    sessionState.set({ ...sessionState.value, asks: { reason: "ended", problem: null } });
}

/** Forgets the credential; the issuer's session is ended apart. */
export function forgetSession(problem: string | null = null): void {
  settle(false);
  sessionState.set({ kind: "signed-out", issuer, problem });
}

export const issuerOfSession = (): Issuer | null => issuer;

/** Reads the headers of the credential; a token that ends soon is renewed before. */
export async function credentialHeaders(): Promise<Readonly<Record<string, string>>> {
  if (sessionState.value.kind !== "signed-in") return {};
  if (sessionState.value.credential.kind === "key") return { "X-API-Key": sessionState.value.credential.apiKey };
  if (sessionState.value.credential.kind === "portal")
    return { Authorization: `Bearer ${sessionState.value.credential.secret}` };
  if (sessionState.value.credential.expiresAtMs - Date.now() < renewEarlyMs) await renewOnce();
  const { credential } = sessionState.value as Extract<SessionState, { kind: "signed-in" }>;
  return credential.kind === "token" ? { Authorization: `Bearer ${credential.accessToken}` } : {};
}

/**
 * Renews the token by the issuer's session, or the link of a portal; concurrent callers share one renewal. Returns false when
 * the issuer would ask, or there is no other link.
 */
export function renewOnce(): Promise<boolean> {
  if (sessionState.value.kind === "signed-in" && sessionState.value.credential.kind === "portal")
    return sessionState.value.credential.renew();
  renewal ??= renew().finally(() => {
    renewal = null;
  });
  return renewal;
}

async function renew(): Promise<boolean> {
  if (!issuer || sessionState.value.kind !== "signed-in" || sessionState.value.credential.kind !== "token")
    return false;
  const tokens = await renewSilently(issuer).catch(() => null);
  if (!tokens || sessionState.value.kind !== "signed-in") return false;
  sessionState.set({ ...sessionState.value, credential: { kind: "token", ...tokens } });
  return true;
}

/** Asks the person to sign in again, and resolves once that is done or given up. What is typed on the page stays. */
export function askPerson(reason: Ask["reason"]): Promise<boolean> {
  if (sessionState.value.kind === "signed-in" && sessionState.value.credential.kind === "portal" && reason === "ended")
    endPortal();
  if (sessionState.value.kind !== "signed-in" || sessionState.value.credential.kind !== "token" || !issuer)
    return Promise.resolve(false);
  sessionState.set({ ...sessionState.value, asks: { reason, problem: null } });
  return new Promise((resolve) => waiting.push(resolve));
}

/** Opens the issuer in a window of its own, and goes on with the waiting requests when it has answered. */
export async function answerAsk(): Promise<void> {
  if (!issuer || sessionState.value.kind !== "signed-in" || !sessionState.value.asks) return;
  const { reason } = sessionState.value.asks;
  // Opened at once: browsers allow a window only in the moment of a press.
  const popup = window.open("about:blank", popupName, "popup,width=480,height=720");
  const { url, started } = await startSignIn(issuer, reason === "recent" ? { isRecent: true } : {});
  if (!popup) return complain("Your browser blocked the sign-in window. Allow pop-ups for this page and try again.");
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<string>) => {
    channel.close();
    void takeAnswer(new URLSearchParams(data), started);
  };
  popup.location.assign(url);
}

async function takeAnswer(answer: URLSearchParams, started: StartedSignIn): Promise<void> {
  try {
    const tokens = issuer && (await completeSignIn(issuer, answer, started));
    if (!tokens) return;
    sessionState.set({ kind: "signed-in", credential: { kind: "token", ...tokens }, asks: null });
    settle(true);
  } catch (error) {
    complain((error as Error).message);
  }
}

/** Gives up: the waiting requests are refused. */
export function dropAsk(): void {
  if (sessionState.value.kind === "signed-in") sessionState.set({ ...sessionState.value, asks: null });
  settle(false);
}

function complain(problem: string): void {
  if (sessionState.value.kind === "signed-in" && sessionState.value.asks)
    sessionState.set({ ...sessionState.value, asks: { ...sessionState.value.asks, problem } });
}

function settle(isSignedIn: boolean): void {
  const all = waiting;
  waiting = [];
  for (const resolve of all) resolve(isSignedIn);
}
