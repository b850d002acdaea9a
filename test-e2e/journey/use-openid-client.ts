import assert from "node:assert/strict";
import { createFormVisitor, eventually, type Mailbox } from "@signalbox/testing";
import * as openid from "openid-client";
import type { System } from "../systems/system.ts";
import { type Client, createClient, expectStatus } from "./client.ts";

/** CONTRACT §1: time within which the end of a credential takes effect in every service. */
const effectiveMs = 2_000;

const application = { client_id: "console", name: "Console", redirect_uris: ["https://console.example/back"] };

/** Properties of a system for `usesOpenidClient`. */
export const openidProperties = ({ url }: Mailbox) => ({
  "mail.url": url,
  "account.oauth.applications": JSON.stringify([application]),
  "account.registration": "open",
});

/** The two ways to discover the issuer: OpenID Connect Discovery and RFC 8414. */
const algorithms = ["oidc", "oauth2"] as const;

/** Discovers the built-in issuer with a stock client library. */
const discoverIssuer = (
  { baseUrl }: Pick<System, "baseUrl">,
  clientId: string,
  authentication: openid.ClientAuth,
  algorithm: (typeof algorithms)[number] = "oidc",
) =>
  openid.discovery(new URL(`${baseUrl}/oauth`), clientId, undefined, authentication, {
    algorithm,
    execute: [openid.allowInsecureRequests],
  });

/** The application that people sign in to, discovered by a stock client library. */
export const discoverApplication = (system: Pick<System, "baseUrl">, algorithm?: (typeof algorithms)[number]) =>
  discoverIssuer(system, application.client_id, openid.None(), algorithm);

/**
 * Proves that a stock client library finds the built-in issuer behind the edge in both ways, for people and for
 * programs.
 */
export async function usesOpenidClient(system: System, owner: Client, mailbox: Mailbox, imageId: string) {
  for (const algorithm of algorithms) {
    const discover = (clientId: string, authentication: openid.ClientAuth) =>
      discoverIssuer(system, clientId, authentication, algorithm);
    await signsInAPerson(system, await discoverApplication(system, algorithm), mailbox);
    await actsAsAClient(system, owner, discover, imageId);
  }
}

const listWith = (system: System, token: string) =>
  createClient(system.baseUrl)("/images", { headers: { authorization: `Bearer ${token}` } });

const isRefused = (system: System, token: string) =>
  eventually(async () => (await listWith(system, token)).status === 401, { timeoutMs: effectiveMs });

/** Signs a new person in to the application, with a mailed code. */
export async function signInAsNewcomer(
  { baseUrl }: Pick<System, "baseUrl">,
  configuration: openid.Configuration,
  mailbox: Mailbox,
  scope: string,
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
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  const [, code = ""] = /^ {4}(\d{8})$/m.exec((await mailbox.mailTo(address)).text) ?? [];
  const back = (await visitor.submit(asked, { code }, "code")).url;
  const checks = { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true };
  return openid.authorizationCodeGrant(configuration, back, checks);
}

/** Signs a person in with a mailed code; their application acts for them until it revokes its tokens. */
async function signsInAPerson(system: System, configuration: openid.Configuration, mailbox: Mailbox): Promise<void> {
  const first = await signInAsNewcomer(system, configuration, mailbox, "openid offline_access images:read");
  expectStatus(await listWith(system, first.access_token), 200);
  const second = await openid.refreshTokenGrant(configuration, first.refresh_token ?? "");
  assert.equal(second.claims()?.sub, first.claims()?.sub);
  expectStatus(await listWith(system, second.access_token), 200);
  await openid.tokenRevocation(configuration, second.refresh_token ?? "");
  await isRefused(system, second.access_token);
}

type Discover = (clientId: string, authentication: openid.ClientAuth) => Promise<openid.Configuration>;

/** A program of the owner uses tokens at another service until it revokes one, and until the owner ends it. */
async function actsAsAClient(system: System, owner: Client, discover: Discover, imageId: string): Promise<void> {
  const wanted = { name: "Nightly import", scopes: ["images:read"] };
  const made = expectStatus(await owner("/api/account/clients/", { body: wanted }), 201).json;
  const configuration = await discover(made.client_id, openid.ClientSecretBasic(made.client_secret));
  const newToken = async () => (await openid.clientCredentialsGrant(configuration)).access_token;

  const [first, second] = [await newToken(), await newToken()];
  const { items } = expectStatus(await listWith(system, first), 200).json;
  assert.ok(
    items.some(({ id }: { id: string }) => id === imageId),
    "it acts for the account that made it",
  );
  const headers = { authorization: `Bearer ${first}` };
  expectStatus(await createClient(system.baseUrl)(`/images/${imageId}`, { method: "DELETE", headers }), 403);

  assert.equal((await openid.tokenIntrospection(configuration, first)).active, true);
  await openid.tokenRevocation(configuration, first);
  assert.equal((await openid.tokenIntrospection(configuration, first)).active, false);
  await isRefused(system, first);
  expectStatus(await listWith(system, second), 200);

  expectStatus(await owner(`/api/account/clients/${made.id}`, { method: "DELETE" }), 204);
  await isRefused(system, second);
  await assert.rejects(newToken(), ({ cause }) => cause[0].parameters.error === "invalid_client");
}
