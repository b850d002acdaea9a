import assert from "node:assert/strict";
import { createFormVisitor, eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, discover, through } from "./oauth-fixture.ts";

/** A configured application. */
export const application = {
  client_id: "desk",
  name: "Console <b>",
  redirect_uris: ["https://console.example/back"],
  post_logout_redirect_uris: ["https://console.example/bye"],
};
export const nativeApplication = { client_id: "desk-cli", name: "CLI", redirect_uris: ["http://127.0.0.1/back"] };
export const applications = JSON.stringify([application, nativeApplication]);

/** A page as a browser without scripts shows it: forms for scripts stay hidden. */
const shownIn = (page: string): string => page.replaceAll(/<form [^>]* hidden>.*?<\/form>/gs, "");

/** A browser without scripts. It asks the instance of the latest `at`, always with the headers `always`. */
export function createVisitor(first: Harness, always: Readonly<Record<string, string>> = {}) {
  let instance = first;
  const visitor = createFormVisitor(baseUrl, async (url, options) => {
    const headers = { ...always, ...(options.headers as Record<string, string>) };
    const answer = await through(instance)(url, { ...options, headers });
    const isPage = answer.headers.get("content-type")?.startsWith("text/html") && !answer.headers.has("location");
    if (isPage) assert.match(shownIn(await answer.clone().text()), /<(a|button)\b/, `${url} has no way on`);
    return answer;
  });
  return {
    ...visitor,
    /** The next requests go to this instance. */
    at(other: Harness) {
      instance = other;
    },
  };
}

export type Visitor = ReturnType<typeof createVisitor>;

/** The fields of the form that a page posts to another site; null when it has none. */
export function formTo(action: string, page: string): URLSearchParams | null {
  const [, target, inputs = ""] = /<form method="post" action="([^"]*)">(.*?)<\/form>/s.exec(page) ?? [];
  if (target !== action) return null;
  const fields = new URLSearchParams();
  for (const [, name = "", value = ""] of inputs.matchAll(/name="([^"]*)" value="([^"]*)"/g))
    fields.append(name, value);
  return fields;
}

const codeLine = /^ {4}(\d{8})$/m;
const codesTo = ({ mailbox }: Harness, address: string): string[] =>
  mailbox.mails.flatMap(({ to, text }) => (to === address ? (codeLine.exec(text)?.[1] ?? []) : []));

/** Returns the code in the code mail number `count` to this address. */
export const codeTo = (instance: Harness, address: string, count = 1): Promise<string> =>
  eventually(() => codesTo(instance, address)[count - 1] ?? null);

interface Request {
  readonly client?: string;
  readonly redirect?: string;
  readonly scope?: string;
  readonly more?: Record<string, string>;
}

/** The sign-in request of an application, and its handling of the answer. */
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

/** Passes both pages and returns the redirect back to the application. */
export async function passThrough(visitor: Visitor, instance: Harness, url: URL, address: string): Promise<URL> {
  const before = codesTo(instance, address).length;
  const second = await visitor.submit(await visitor.open(url), { address }, "address");
  const last = await visitor.submit(second, { code: await codeTo(instance, address, before + 1) }, "code");
  return last.url;
}

/** Headers of a new person who has just signed in, with these scopes. */
export async function newcomer(
  instance: Harness,
  scopes = "account:read account:write account:security images:write",
): Promise<{ authorization: string }> {
  return bearer((await signedIn(instance, { scope: `openid ${scopes}` })).access_token);
}

/** A person who has just signed in with an address of their own. */
export async function signedIn(instance: Harness, request: Request & { readonly address?: string } = {}) {
  const { address = `${crypto.randomUUID()}@example.org` } = request;
  const visitor = createVisitor(instance);
  const { configuration, url, finish } = await startSignIn(instance, request);
  const tokens = await finish(await passThrough(visitor, instance, url, address));
  return { address, visitor, configuration, ...tokens, idClaims: tokens.claims() };
}
