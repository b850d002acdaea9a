import { chosenAccount, forgetAccount } from "./acting-account.ts";
import { callbackUrl, consoleUrl, deploymentUrl } from "./place.ts";

/** An OpenID provider, as it describes itself. */
export interface Issuer {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint: string;
  readonly scopes_supported: readonly string[];
}

/** A sign-in that has started and is not answered yet: the code is worth nothing without the verifier (RFC 7636). */
export interface StartedSignIn {
  readonly state: string;
  readonly verifier: string;
  /** Address to show afterwards. */
  readonly returnTo: string;
}

export interface Tokens {
  readonly accessToken: string;
  readonly expiresAtMs: number;
}

/** The built-in application of every deployment. */
const clientId = "console";
/** Changes that need a recent sign-in need one within 15 minutes. */
const recentSeconds = 900;

/** Finds the issuer of this deployment; null when people sign in elsewhere. */
export async function findIssuer(): Promise<Issuer | null> {
  const front = await readJson<{ links?: Record<string, string> }>(deploymentUrl);
  if (!front.links?.sign_in) return null;
  return readJson<Issuer>(new URL("oauth/.well-known/openid-configuration", deploymentUrl));
}

/** The issuer returns to its own origin alone; a machine has several names, such as `localhost` and `127.0.0.1`. */
export const canReturnHere = ({ issuer }: Issuer): boolean => new URL(issuer).origin === location.origin;

/** Starts a sign-in and builds the address that asks the issuer for it. */
export async function startSignIn(
  issuer: Issuer,
  options: { readonly isRecent?: boolean; readonly prompt?: "login" | "none" } = {},
): Promise<{ readonly url: string; readonly started: StartedSignIn }> {
  if (!isSecureContext) throw new Error(`Signing in needs https: ${location.origin} is plain http.`);
  const started = { state: random(), verifier: random(), returnTo: location.href };
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(started.verifier));
  const account = chosenAccount();
  const asked = new URLSearchParams({
    client_id: clientId,
    redirect_uri: callbackUrl.href,
    response_type: "code",
    scope: issuer.scopes_supported.filter((scope) => scope !== "offline_access").join(" "),
    state: started.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...(options.isRecent && { max_age: String(recentSeconds) }),
    ...(options.prompt && { prompt: options.prompt }),
    ...(account && { account }),
  });
  return { url: `${issuer.authorization_endpoint}?${asked}`, started };
}

/**
 * Exchanges the code of an answer for tokens.
 * @throws Error that says why nobody is signed in
 */
export async function completeSignIn(
  issuer: Issuer,
  answer: URLSearchParams,
  started: StartedSignIn | null,
): Promise<Tokens> {
  if (!started || answer.get("state") !== started.state || answer.get("iss") !== issuer.issuer)
    throw new Error("This response does not belong to a sign-in of this page. Start again.");
  const refusal = answer.get("error_description") ?? answer.get("error");
  if (refusal !== null) throw new Error(refusal);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: callbackUrl.href,
    code: answer.get("code") ?? "",
    code_verifier: started.verifier,
  });
  const tokens = await readJson<Record<string, unknown>>(issuer.token_endpoint, { method: "POST", body });
  if (typeof tokens.access_token !== "string") {
    // A person who was removed from the chosen account comes back to their own by the next sign-in.
    forgetAccount();
    throw new Error(String(tokens.error_description ?? "No token was issued."));
  }
  return { accessToken: tokens.access_token, expiresAtMs: Date.now() + Number(tokens.expires_in ?? 0) * 1000 };
}

/**
 * Signs in by the session that the issuer keeps in its own cookie: the code is in the address at which the redirects
 * end, so no frame and no stored token is needed. Returns null when the issuer would ask the person.
 */
export async function renewSilently(issuer: Issuer): Promise<Tokens | null> {
  // The issuer answers `prompt=none` for https alone: on a loopback any program could take the code.
  const options = callbackUrl.protocol === "https:" ? ({ prompt: "none" } as const) : {};
  const { url, started } = await startSignIn(issuer, options);
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  const end = new URL(answer.url);
  if (end.origin !== callbackUrl.origin || end.pathname !== callbackUrl.pathname || !end.searchParams.has("code"))
    return null;
  return completeSignIn(issuer, end.searchParams, started);
}

/** Builds the address at which the issuer ends its session with this browser. */
export function signOutUrl(issuer: Issuer): string {
  const asked = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: consoleUrl.href });
  return `${issuer.end_session_endpoint}?${asked}`;
}

async function readJson<Body>(url: URL | string, options: RequestInit = {}): Promise<Body> {
  const answer = await fetch(url, { ...options, headers: { Accept: "application/json" } });
  return answer.json() as Promise<Body>;
}

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
