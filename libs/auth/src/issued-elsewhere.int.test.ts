import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createOidcIssuer, type OidcIssuer } from "@signalbox/testing";
import { issuedAt, issuedTokens } from "./issued-elsewhere.fixture.ts";
import { parseIssuers } from "./issuers.ts";
import { createTokenVerifier } from "./token-verifier.ts";

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
