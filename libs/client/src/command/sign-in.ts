import { setTimeout as sleep } from "node:timers/promises";
import { exchangeJson } from "./exchange.ts";
import { exitCodes, Failure } from "./failures.ts";
import type { SignIn } from "./profiles.ts";

/** The members of an issuer's discovery document that a terminal needs. */
interface Issuer {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly device_authorization_endpoint?: string;
  readonly revocation_endpoint?: string;
}

/** A code for the person, and the secret by which the terminal gets its tokens. */
export interface DeviceRequest {
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly device_code: string;
  readonly expires_in: number;
  readonly interval?: number;
}

async function read(url: string, form?: Record<string, string>): Promise<{ status: number; body: unknown }> {
  if (!URL.canParse(url)) throw new Failure(`The issuer returned an invalid address: ${url}`);
  const post = form && { method: "POST", body: new URLSearchParams(form) };
  const response = await exchangeJson(new Request(url, { ...post, headers: { accept: "application/json" } }));
  const text = await response.text();
  try {
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  } catch {
    throw new Failure(`${url} answered ${response.status} without JSON.`);
  }
}

/** Finds the issuer of a deployment, which may be another host, by the metadata of its API. */
export async function findIssuer(baseUrl: string): Promise<Issuer> {
  const resource = await read(`${baseUrl}/.well-known/oauth-protected-resource`);
  const { authorization_servers: servers } = (resource.body ?? {}) as { authorization_servers?: unknown };
  const [address] = Array.isArray(servers) ? servers : [];
  if (typeof address !== "string") throw new Failure(`${baseUrl} does not name an issuer. Use an API key instead.`);
  return readIssuer(address);
}

async function readIssuer(address: string): Promise<Issuer> {
  const { body } = await read(`${address.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const found = body as Issuer;
  if (found?.issuer !== address || typeof found.token_endpoint !== "string") {
    throw new Failure(`${address} does not describe itself as an issuer.`);
  }
  return found;
}

/** Starts a sign-in that the person finishes in a browser. */
export async function startDevice(issuer: Issuer, clientId: string, scope: string): Promise<DeviceRequest> {
  const { device_authorization_endpoint: url } = issuer;
  if (!url)
    throw new Failure(`${issuer.issuer} does not support sign-in from a terminal. Use: signalbox login --with-key`);
  const { status, body } = await read(url, { client_id: clientId, scope });
  if (status !== 200) throw refused(issuer, body);
  return body as DeviceRequest;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** Waits until the person has decided. @throws Failure when the request was refused or has expired */
export async function waitForTokens(
  issuer: Issuer,
  { device_code, interval = 5, expires_in }: DeviceRequest,
  { clientId, nowMs }: { readonly clientId: string; readonly nowMs: () => number },
): Promise<SignIn> {
  let waitMs = interval * 1_000;
  const untilMs = nowMs() + expires_in * 1_000;
  while (nowMs() < untilMs) {
    await sleep(waitMs);
    const form = { grant_type: deviceGrant, device_code, client_id: clientId };
    const { status, body } = await read(issuer.token_endpoint, form);
    if (status === 200) return signInOf(issuer, clientId, body as Tokens, nowMs);
    const { error } = (body ?? {}) as { error?: string };
    // RFC 8628 §3.5: each of them adds five seconds.
    if (error === "slow_down") waitMs += 5_000;
    else if (error !== "authorization_pending") throw refused(issuer, body);
  }
  throw new Failure("The code has expired. Run: signalbox login", exitCodes.refused);
}

function signInOf({ issuer }: Issuer, clientId: string, tokens: Tokens, nowMs: () => number): SignIn {
  return {
    kind: "sign-in",
    issuer,
    clientId,
    accessToken: tokens.access_token,
    expiresAtMs: nowMs() + (tokens.expires_in ?? 60) * 1_000,
    refreshToken: tokens.refresh_token ?? null,
  };
}

/** Exchanges the refresh token, with `account` for tokens that act for another account. @throws Failure when the sign-in has ended */
export async function refresh(signIn: SignIn, nowMs: () => number, account?: string): Promise<SignIn> {
  const { refreshToken, clientId } = signIn;
  const ended = "The sign-in has ended. Run: signalbox login";
  if (refreshToken === null) throw new Failure(ended, exitCodes.refused);
  const issuer = await readIssuer(signIn.issuer);
  const form = {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: clientId,
    ...(account && { account }),
  };
  const { status, body } = await read(issuer.token_endpoint, form);
  if (status >= 500) throw new Failure(`${issuer.issuer} answered ${status}.`, exitCodes.unavailable);
  if (status !== 200) throw new Failure(ended, exitCodes.refused, { cause: refused(issuer, body) });
  const next = signInOf(issuer, clientId, body as Tokens, nowMs);
  return { ...next, refreshToken: next.refreshToken ?? refreshToken };
}

/** Ends a sign-in at its issuer. */
export async function revoke({ issuer: address, clientId, refreshToken, accessToken }: SignIn): Promise<void> {
  const issuer = await readIssuer(address);
  const { revocation_endpoint: url } = issuer;
  if (!url) return;
  const { status, body } = await read(url, { client_id: clientId, token: refreshToken ?? accessToken });
  if (status !== 200) throw refused(issuer, body);
}

function refused({ issuer }: Issuer, body: unknown): Failure {
  const { error, error_description: description } = (body ?? {}) as { error?: string; error_description?: string };
  return new Failure(`${issuer} refused: ${[error, description].filter(Boolean).join(": ")}.`, exitCodes.refused);
}
