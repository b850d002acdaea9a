import assert from "node:assert/strict";
import { type createOidcIssuer, eventually } from "@signalbox/testing";
import { type Client, createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import { attempts, type Verdict, verdictOf } from "./attempts.ts";

type OidcIssuer = Awaited<ReturnType<typeof createOidcIssuer>>;

/** CONTRACT §1: how long a change of access may take to hold in every service. */
const effectiveMs = 2_000;

/** Properties of a system that trusts the issuer of the test. */
export function trusting({ issuer, audience }: OidcIssuer): Record<string, string> {
  const trusted = { name: "tests", issuer, audience, "roles-claim": "roles" };
  return { "auth.issuers": JSON.stringify([trusted]) };
}

/** A person with a valid token and two keys, whom every service knows. */
interface Person {
  readonly accountId: string;
  readonly token: Record<string, string>;
  readonly key: Record<string, string>;
  readonly revoked: { readonly id: string; readonly headers: Record<string, string> };
}

interface Scenario {
  readonly issuer: OidcIssuer;
  readonly system: System;
  /** Kills every process with -9 and starts it again on its data. */
  readonly restart: () => Promise<System>;
}

/**
 * A suspension and a revocation hold in every service within two seconds, on credentials that are otherwise good; they
 * survive the death of every process; and an activation lets in again.
 */
export async function runEnforcement({ issuer, system, restart }: Scenario): Promise<void> {
  const person = await newPerson(system, issuer);
  const { token, key, revoked } = person;
  for (const headers of [token, key, revoked.headers]) await holds(system, headers, "let in");

  await suspends(system, person.accountId);
  await Promise.all([token, key].map((headers) => holds(system, headers, "account_suspended", effectiveMs)));
  await stillReads(system, token);

  await activates(system, person.accountId);
  await Promise.all([token, key].map((headers) => holds(system, headers, "let in", effectiveMs)));

  expectStatus(await owner(system, token)(`/api/account/api-keys/${revoked.id}`, { method: "DELETE" }), 204);
  await holds(system, revoked.headers, "unauthorized", effectiveMs);
  await suspends(system, person.accountId);
  await holds(system, token, "account_suspended", effectiveMs);

  const again = await restart();
  for (const headers of [token, key]) await neverLetsIn(again, headers, "account_suspended");
  await neverLetsIn(again, revoked.headers, "unauthorized");

  await activates(again, person.accountId);
  await Promise.all([token, key].map((headers) => holds(again, headers, "let in", effectiveMs)));
  await holds(again, revoked.headers, "unauthorized");
}

/** Role `admin`, so that every attempt is within their scopes. */
async function newPerson(system: System, issuer: OidcIssuer): Promise<Person> {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"], auth_time: Math.floor(Date.now() / 1000) };
  const token = { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
  const send = owner(system, token);
  const accountId = expectStatus(await send("/api/account/"), 200).json.id;
  const scopes = ["account:write", "images:write", "webhooks:write", "config:admin"];
  const makeKey = async (name: string) => {
    const { json } = expectStatus(await send("/api/account/api-keys/", { body: { name, scopes } }), 201);
    return { id: json.id as string, headers: { "x-api-key": json.key as string } };
  };
  return { accountId, token, key: (await makeKey("kept")).headers, revoked: await makeKey("revoked") };
}

const owner = (system: System, headers: Record<string, string>): Client => {
  const send = createClient(system.baseUrl);
  return (path, request = {}) => send(path, { ...request, headers: { ...request.headers, ...headers } });
};

const suspends = (system: System, accountId: string) => moves(system, accountId, "suspended");
const activates = (system: System, accountId: string) => moves(system, accountId, "active");

async function moves(system: System, accountId: string, status: string): Promise<void> {
  const administrator = createClient(system.baseUrl, system.apiKey);
  const body = { status, reason: "enforcement" };
  expectStatus(await administrator(`/api/accounts/${accountId}/status`, { body }), 200);
}

/** Waits until every service takes the caller like this, for so long after the change was answered. */
async function holds(system: System, headers: Record<string, string>, wanted: Verdict, timeoutMs = 0): Promise<void> {
  const waits = Object.keys(attempts).map((service) =>
    eventually(async () => assert.equal(await verdict(system, service, headers), wanted), {
      timeoutMs,
      message: `${service} takes the caller as: ${wanted}`,
    }),
  );
  await Promise.all(waits);
}

/** After a restart a service may be away, but it must not let in meanwhile. */
async function neverLetsIn(system: System, headers: Record<string, string>, wanted: Verdict): Promise<void> {
  for (const service of Object.keys(attempts)) {
    const found = await eventually(() => verdict(system, service, headers), {
      timeoutMs: 30_000,
      message: `${service} answers after the restart`,
    });
    assert.equal(found, wanted, `${service} after the restart`);
  }
}

async function verdict(system: System, service: string, headers: Record<string, string>): Promise<Verdict> {
  const [path, request] = attempts[service] as (typeof attempts)[string];
  return verdictOf(await owner(system, headers)(path, request));
}

/** A suspension takes the pen away, not the eyes. */
async function stillReads(system: System, headers: Record<string, string>): Promise<void> {
  const send = owner(system, headers);
  for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
    expectStatus(await send(path), 200);
  }
  assert.equal(expectStatus(await send("/api/account/"), 200).json.status, "suspended");
}
