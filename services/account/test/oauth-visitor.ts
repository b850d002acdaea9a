import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, discover, through } from "./oauth-fixture.ts";

/** An application of ours that people sign in to. */
export const application = {
  client_id: "console",
  name: "Console <b>",
  redirect_uris: ["https://console.example/back"],
  post_logout_redirect_uris: ["https://console.example/bye"],
};
export const nativeApplication = { client_id: "cli", name: "CLI", redirect_uris: ["http://127.0.0.1/back"] };
export const applications = JSON.stringify([application, nativeApplication]);

export interface Seen {
  readonly status: number;
  /** Where it ended, an application's address included. */
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

/** What a browser without script does: cookies, redirects, forms. It asks the instance that `at` names last. */
export function createVisitor(first: Harness) {
  let instance = first;
  const cookies = new Map<string, string>();

  async function send(url: string, options: RequestInit = {}): Promise<Seen> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", cookie, ...(options.headers as Record<string, string>) };
    const response = await through(instance)(url, { ...options, headers });
    for (const line of response.headers.getSetCookie()) keep(line);
    const location = response.headers.get("location");
    const text = await response.text();
    if (location === null) return { status: response.status, url: new URL(url), headers: response.headers, text };
    const next = new URL(location, url);
    if (next.href.startsWith(baseUrl)) return send(next.href);
    return { status: response.status, url: next, headers: response.headers, text };
  }

  function keep(line: string): void {
    const [pair = ""] = line.split(";", 1);
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }

  return {
    cookies,
    /** The next requests go to this instance. */
    at(other: Harness) {
      instance = other;
    },
    open: (url: string | URL) => send(String(url)),
    /** Presses the one button of a page whose form posts to where it is. */
    press: (page: Seen) => send(page.url.href, { method: "POST", body: new URLSearchParams() }),
    /** Fills the form of a page that has this step (or the first one), and sends it. */
    submit(page: Seen, fields: Record<string, string>, step?: string, headers: Record<string, string> = {}) {
      const forms = [...page.text.matchAll(/<form [^>]*action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
      const [, action = "", inputs = ""] =
        forms.find(([form]) => step === undefined || form.includes(`name="step" value="${step}"`)) ?? [];
      const hidden = [...inputs.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams();
      for (const [, name = "", value = ""] of hidden) body.set(name, value);
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return send(new URL(action, page.url).href, { method: "POST", body, headers });
    },
  };
}

export type Visitor = ReturnType<typeof createVisitor>;

/** The code in the mail number `count` to this address. */
export async function codeTo(instance: Harness, address: string, count = 1): Promise<string> {
  const { text } = await instance.mailbox.mailTo(address, count);
  return /^ {4}(\d{8})$/m.exec(text)?.[1] ?? "no code";
}

interface Request {
  readonly client?: string;
  readonly redirect?: string;
  readonly scope?: string;
  readonly more?: Record<string, string>;
}

/** An application's request for a sign-in, and how it takes the answer. */
export async function startSignIn(instance: Harness, request: Request = {}) {
  const { client = application.client_id, redirect = application.redirect_uris[0] ?? "", scope = "openid" } = request;
  const configuration = await discover(instance, client, openid.None());
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...request.more,
  });
  const finish = (back: URL) =>
    openid.authorizationCodeGrant(configuration, back, { pkceCodeVerifier: verifier, expectedState: state });
  return { configuration, url, finish };
}

/** Goes through both pages and answers where the application gets the browser back. */
export async function passThrough(visitor: Visitor, instance: Harness, url: URL, address: string): Promise<URL> {
  const before = instance.mailbox.mails.filter(({ to }) => to === address).length;
  const second = await visitor.submit(await visitor.open(url), { address }, "address");
  const last = await visitor.submit(second, { code: await codeTo(instance, address, before + 1) }, "code");
  return last.url;
}

/** A person who has just signed in with an address of their own. */
export async function signedIn(instance: Harness, request: Request & { readonly address?: string } = {}) {
  const { address = `${crypto.randomUUID()}@example.org` } = request;
  const visitor = createVisitor(instance);
  const { configuration, url, finish } = await startSignIn(instance, request);
  const tokens = await finish(await passThrough(visitor, instance, url, address));
  return { address, visitor, configuration, ...tokens, idClaims: tokens.claims() };
}
