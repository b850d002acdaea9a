import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createManualClock, randomId } from "@signalbox/core";
import type { EventLog } from "@signalbox/events";
import {
  createOidcIssuer,
  createTcpProxy,
  eventually,
  type OidcIssuer,
  type TcpProxy,
  testDatabase,
} from "@signalbox/testing";
import {
  accessStatesContract,
  closes,
  openLog,
  openReader,
  publishChange,
  topicSpec,
} from "./access-states.contract.ts";
import { issuedAt, issuedTokens } from "./issued-elsewhere.fixture.ts";
import { parseIssuers } from "./issuers.ts";
import { createTokenVerifier } from "./token-verifier.ts";

accessStatesContract("PostgreSQL", postgresUrl);

test("an outage of the log leaves the last states, counted as outdated", async () => {
  const url = await postgresUrl();
  const proxy = await createTcpProxy({ port: Number(new URL(url).port) });
  closes.push(proxy.close);
  const { log } = await openLog(url);
  await log.ensureTopics([topicSpec]);
  await holdsThroughAnOutage(log, proxy, url);
});

async function holdsThroughAnOutage(log: EventLog, proxy: TcpProxy, url: string): Promise<void> {
  const account = randomId("acc");
  await publishChange(log, { kind: "account", id: account, account_id: account, state: "suspended", epoch: 1 });
  const { states, context } = await openReader(proxy.urlFor(url));
  await states.caughtUp;
  await eventually(() => !states.isBehind());
  await proxy.refuse();
  await eventually(() => states.isBehind());
  assert.equal(states.stateOf(account)?.state, "suspended");
  assert.equal(states.isCaughtUp(), true, "a later outage refuses no one");
  assert.equal((await context.health.report()).live.status, "up");
  await publishChange(log, { kind: "account", id: account, account_id: account, state: "active", epoch: 2 });
  await proxy.accept();
  await eventually(() => states.stateOf(account)?.state === "active");
  await eventually(() => !states.isBehind());
}

async function postgresUrl(): Promise<string> {
  const database = await testDatabase();
  closes.push(database.close);
  return database.url;
}

const page = new URL("../../../docs/how-to/connect-your-identity-provider.md", import.meta.url);

const issuers = new Map<"RS256" | "ES384", OidcIssuer>();
before(async () => {
  for (const algorithm of ["RS256", "ES384"] as const) {
    const issuer = await createOidcIssuer();
    issuer.rotate(algorithm);
    issuers.set(algorithm, issuer);
  }
});
after(() => Promise.all([...issuers.values()].map((issuer) => issuer.close())));

for (const { title, provider, algorithm = "RS256", header, claims, ...expected } of issuedTokens) {
  test(`${title}, with the settings of the how-to page`, async () => {
    const issuer = issuers.get(algorithm);
    assert.ok(issuer);
    const verifier = createTokenVerifier({
      issuers: parseIssuers(JSON.stringify([{ ...(await settingsOf(provider)), issuer: issuer.issuer }])),
      clock: createManualClock(new Date(issuedAt * 1000)),
      clockSkewSeconds: 30,
      maxAgeSeconds: 86_400,
      onKeysFailure: (_issuer, error) => assert.fail(String(error)),
      onKeysSkipped: () => {},
    });
    const token = await verifier.verify(issuer.sign(claims, { header }));
    const { kind, roles, scopes, isNamed = true, signedIn = false } = expected;
    assert.deepEqual([token.kind, token.roles, [...token.scopes].sort()], [kind, roles, [...scopes].sort()]);
    assert.equal(token.subject, claims.sub);
    assert.equal(token.tokenId.startsWith("jti:"), isNamed);
    assert.equal(token.authTimeMs !== null, signedIn);
  });
}

/** Reads the entry of `auth.issuers` that the page shows for a provider. */
async function settingsOf(provider: string): Promise<object> {
  const text = await readFile(page, "utf8");
  const [, section = ""] = text.split(`### ${provider}\n`);
  const [, entry = "no entry"] = /```json\n(.*?)```/s.exec(section) ?? [];
  return JSON.parse(entry);
}
