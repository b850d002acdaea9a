import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import { attempts, type Verdict } from "./attempts.ts";
import { holdAtOnce } from "./hold-at-once.ts";
import {
  activates,
  type Headers,
  makeKey,
  newPerson,
  type OidcIssuer,
  owner,
  type Person,
  suspends,
  verdict,
} from "./people.ts";

/** CONTRACT §1: time within which a change of access takes effect in every service. */
const effectiveMs = 2_000;
const rounds = 3;

/** Properties of a system that trusts the test's issuer, without limits, so that only access is judged. */
export function trusting({ issuer, audience }: OidcIssuer): Record<string, string> {
  const trusted = { name: "tests", issuer, audience, "roles-claim": "roles" };
  const limits = ["credential", "account", "failed-sign-in"].map((kind) => [
    `http.rate-limit.${kind}.requests`,
    "1000000",
  ]);
  return {
    "auth.issuers": JSON.stringify([trusted]),
    "account.api-keys.max": "1000",
    ...Object.fromEntries(limits),
  };
}

interface Scenario {
  readonly issuer: OidcIssuer;
  readonly system: System;
  /** Kills every process with -9 and restarts it on its data. */
  readonly restart: () => Promise<System>;
}

/**
 * Proves that a suspension and a revocation take effect in every service within two seconds, on otherwise valid
 * credentials; that they survive the death of every process; and that an activation admits the caller again.
 */
export async function runEnforcement({ issuer, system, restart }: Scenario): Promise<void> {
  const person = await newPerson(system, issuer);
  const { token, key } = person;
  await holdAtOnce(system, issuer);
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

/** Changes the person's access in rounds; in each, every change takes effect in time. Returns a revoked key. */
async function holdInTime(system: System, person: Person): Promise<Headers> {
  let revoked: Headers = {};
  for (let round = 0; round < rounds; round++) revoked = await changeAccess(system, person);
  return revoked;
}

/** Runs one round: a suspension, an activation and a revocation. Returns the revoked key. */
async function changeAccess(system: System, { accountId, token, key }: Person): Promise<Headers> {
  const revoked = await makeKey(system, token);
  await holds(system, [token, key, revoked.headers], "let in");

  await suspends(system, accountId);
  await holds(system, [token, key], "account_suspended", effectiveMs);
  await stillReads(system, token);
  await activates(system, accountId);
  await holds(system, [token, key], "let in", effectiveMs);
  expectStatus(await owner(system, token)(`/api/account/api-keys/${revoked.id}`, { method: "DELETE" }), 204);
  await holds(system, [revoked.headers], "unauthorized", effectiveMs);
  return revoked.headers;
}

/**
 * Waits until every service gives this verdict, for each credential. No request that starts later than `withinMs` after
 * the call gets another one; the duration of an answer on a busy machine does not count.
 */
async function holds(
  system: System,
  credentials: readonly Headers[],
  wanted: Verdict,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const startedAt = performance.now();
  const pairs = credentials.flatMap((headers) => Object.keys(attempts).map((service) => ({ service, headers })));
  const late = pairs.map(async ({ service, headers }) => {
    let lastOtherMs = 0;
    const isTaken = async () => {
      const beganMs = performance.now() - startedAt;
      const found = await verdict(system, service, headers);
      if (found !== wanted) lastOtherMs = beganMs;
      assert.equal(found, wanted);
    };
    await eventually(isTaken, { message: `${service} takes the caller as: ${wanted}` });
    assert.ok(lastOtherMs <= withinMs, `${service} took the caller otherwise than ${wanted} after ${lastOtherMs} ms`);
  });
  await Promise.all(late);
}

/** After a restart a service may be unavailable, but it must not admit the caller meanwhile. */
async function neverLetsIn(system: System, headers: Headers, wanted: Verdict): Promise<void> {
  for (const service of Object.keys(attempts)) {
    const found = await eventually(() => verdict(system, service, headers), {
      message: `${service} answers after the restart`,
    });
    assert.equal(found, wanted, `${service} after the restart`);
  }
}

/** A suspended account can still be read. */
async function stillReads(system: System, headers: Headers): Promise<void> {
  const send = owner(system, headers);
  for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
    expectStatus(await send(path), 200);
  }
  assert.equal(expectStatus(await send("/api/account/"), 200).json.status, "suspended");
}
