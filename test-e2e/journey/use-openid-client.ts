import assert from "node:assert/strict";
import { createFormVisitor, eventually, type Mailbox } from "@signalbox/testing";
import * as openid from "openid-client";
import type { System } from "../systems/system.ts";
import { createClient, expectStatus } from "./client.ts";

/** CONTRACT §1: time within which the end of a credential takes effect in every service. */
const effectiveMs = 2_000;

const application = { client_id: "desk", name: "Console", redirect_uris: ["https://console.example/back"] };

/** Properties of a system for `usesOpenidClient`. */
export const openidProperties = ({ url }: Mailbox) => ({
  "mail.url": url,
  "account.oauth.applications": JSON.stringify([application]),
  "account.registration": "open",
});

/** The application that people sign in to, discovered by a stock client library. */
export const discoverApplication = ({ baseUrl }: Pick<System, "baseUrl">) =>
  openid.discovery(new URL(`${baseUrl}/oauth`), application.client_id, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });

/** Proves that a stock client library finds the built-in issuer behind the edge, and its tokens every service. */
export async function usesOpenidClient(system: System, mailbox: Mailbox): Promise<void> {
  const configuration = await discoverApplication(system);
  const first = await signInAsNewcomer(system, configuration, mailbox, "openid offline_access images:read");
  expectStatus(await listWith(system, first.access_token), 200);
  const second = await openid.refreshTokenGrant(configuration, first.refresh_token ?? "");
  assert.equal(second.claims()?.sub, first.claims()?.sub);
  expectStatus(await listWith(system, second.access_token), 200);
  await openid.tokenRevocation(configuration, second.refresh_token ?? "");
  await eventually(async () => (await listWith(system, second.access_token)).status === 401, {
    timeoutMs: effectiveMs,
  });
}

const listWith = (system: System, token: string) =>
  createClient(system.baseUrl)("/images", { headers: { authorization: `Bearer ${token}` } });

/** Signs a new person in to the application, with a mailed code; one who was invited accepts by the link first. */
export async function signInAsNewcomer(
  { baseUrl }: Pick<System, "baseUrl">,
  configuration: openid.Configuration,
  mailbox: Mailbox,
  scope: string,
  invitation?: string,
) {
  const address = `${crypto.randomUUID()}@example.org`;
  const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: application.redirect_uris[0] ?? "",
    scope,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  });
  const visitor = createFormVisitor(baseUrl);
  const isInvited = invitation !== undefined;
  const first = isInvited ? visitor.submit(await visitor.open(new URL(invitation)), {}, "sign-in") : visitor.open(url);
  const asked = await visitor.submit(await first, { address }, "address");
  const [, code = ""] = /^ {4}(\d{8})$/m.exec((await mailbox.mailTo(address)).text) ?? [];
  const last = await visitor.submit(asked, { code }, "code");
  const back = (isInvited ? await visitor.open(url) : last).url;
  const checks = { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true };
  return openid.authorizationCodeGrant(configuration, back, checks);
}
