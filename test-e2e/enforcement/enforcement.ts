import assert from "node:assert/strict";
import { type createOidcIssuer, eventually } from "@signalbox/testing";
import { type Client, createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import { attempts, type Verdict, verdictOf } from "./attempts.ts";

type OidcIssuer = Awaited<ReturnType<typeof createOidcIssuer>>;

/** CONTRACT §1: how long a change of access may take to hold in every service. */
const effectiveMs = 2_000;
/** Many processes share the machine, and one that gets no time is late without a fault of its own: one round must be in time. */
const roundsMax = 3;

/** Properties of a system that trusts the issuer of the test, and has room for a scenario that asks all the time. */
export function trusting({ issuer, audience }: OidcIssuer): Record<string, string> {
  const trusted = { name: "tests", issuer, audience, "roles-claim": "roles" };
  const limits = ["credential", "account", "failed-sign-in"].map((kind) => [
    `http.rate-limit.${kind}.requests`,
    "1000000",
  ]);
  return { "auth.issuers": JSON.stringify([trusted]), ...Object.fromEntries(limits) };
}

type Headers = Record<string, string>;

/** A person with a valid token and a key. */
interface Person {
  readonly accountId: string;
  readonly token: Headers;
  readonly key: Headers;
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
  const { token, key } = person;
  const revoked = await holdInTime(system, person);
  await suspends(system, person.accountId);
  await holds(system, [token, key], "account_suspended");

  const again = await restart();
  for (const headers of [token, key]) await neverLetsIn(again, headers, "account_suspended");
  await neverLetsIn(again, revoked, "unauthorized");

  await activates(again, person.accountId);
  await holds(again, [token, key], "let in");
  await holdInTime(again, person);
  await holds(again, [revoked], "unauthorized");
}

/** Changes the person's access in rounds until all changes of one have held in time. Answers a key that was revoked. */
async function holdInTime(system: System, person: Person): Promise<Headers> {
  const slowestMs: number[] = [];
  while (slowestMs.length < roundsMax) {
    const { revoked, tookMs } = await changeAccess(system, person);
    slowestMs.push(Math.max(...tookMs));
    if (slowestMs.some((milliseconds) => milliseconds <= effectiveMs)) return revoked;
  }
  throw new Error(`in no round did all changes hold within ${effectiveMs} ms; the slowest took: ${slowestMs}`);
}

/** One round: a suspension, an activation and a revocation, and how long after its answer each held everywhere. */
async function changeAccess(system: System, { accountId, token, key }: Person) {
  const revoked = await makeKey(system, token);
  await holds(system, [token, key, revoked.headers], "let in");

  await suspends(system, accountId);
  const suspendedMs = await holds(system, [token, key], "account_suspended");
  await stillReads(system, token);
  await activates(system, accountId);
  const activatedMs = await holds(system, [token, key], "let in");
  expectStatus(await owner(system, token)(`/api/account/api-keys/${revoked.id}`, { method: "DELETE" }), 204);
  const revokedMs = await holds(system, [revoked.headers], "unauthorized");
  return { revoked: revoked.headers, tookMs: [suspendedMs, activatedMs, revokedMs] };
}

/** Role `admin`, so that every attempt is within their scopes. */
async function newPerson(system: System, issuer: OidcIssuer): Promise<Person> {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"], auth_time: Math.floor(Date.now() / 1000) };
  const token = { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
  const accountId = expectStatus(await owner(system, token)("/api/account/"), 200).json.id;
  return { accountId, token, key: (await makeKey(system, token)).headers };
}

async function makeKey(system: System, token: Headers): Promise<{ id: string; headers: Headers }> {
  const scopes = ["account:write", "images:write", "webhooks:write", "config:admin"];
  const body = { name: "enforcement", scopes };
  const { json } = expectStatus(await owner(system, token)("/api/account/api-keys/", { body }), 201);
  return { id: json.id, headers: { "x-api-key": json.key } };
}

const owner = (system: System, headers: Headers): Client => {
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

/** Waits until every service takes the caller like this, with each credential. Answers how long it waited. */
async function holds(system: System, credentials: readonly Headers[], wanted: Verdict): Promise<number> {
  const startedAt = performance.now();
  const waits = credentials.flatMap((headers) =>
    Object.keys(attempts).map((service) =>
      eventually(async () => assert.equal(await verdict(system, service, headers), wanted), {
        message: `${service} takes the caller as: ${wanted}`,
      }),
    ),
  );
  await Promise.all(waits);
  return performance.now() - startedAt;
}

/** After a restart a service may be away, but it must not let in meanwhile. */
async function neverLetsIn(system: System, headers: Headers, wanted: Verdict): Promise<void> {
  for (const service of Object.keys(attempts)) {
    const found = await eventually(() => verdict(system, service, headers), {
      message: `${service} answers after the restart`,
    });
    assert.equal(found, wanted, `${service} after the restart`);
  }
}

async function verdict(system: System, service: string, headers: Headers): Promise<Verdict> {
  const [path, request] = attempts[service] as (typeof attempts)[string];
  return verdictOf(await owner(system, headers)(path, request));
}

/** A suspension takes the pen away, not the eyes. */
async function stillReads(system: System, headers: Headers): Promise<void> {
  const send = owner(system, headers);
  for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
    expectStatus(await send(path), 200);
  }
  assert.equal(expectStatus(await send("/api/account/"), 200).json.status, "suspended");
}
