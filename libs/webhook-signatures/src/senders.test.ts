import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { presets } from "./presets/presets.ts";
import { type SchemeName, schemeOf } from "./schemes.ts";

/** A request that a sender's own library signed or verified, as `record-senders.mjs` recorded it: none of it is ours. */
interface Recording {
  readonly package: string;
  readonly version: string;
  readonly by: "signed" | "verified";
  readonly scheme: { readonly name: SchemeName } | { readonly preset: keyof typeof presets };
  readonly secret: string;
  readonly otherSecret: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const file = new URL("recorded-senders.json", import.meta.url);
const { nowSeconds, recordings }: { nowSeconds: number; recordings: Recording[] } = JSON.parse(
  await readFile(file, "utf8"),
);

function schemeFor(scheme: Recording["scheme"]) {
  if ("name" in scheme) return schemeOf(scheme.name);
  return schemeOf(presets[scheme.preset].scheme, presets[scheme.preset].settings);
}

for (const { package: name, version, by, scheme, secret, otherSecret, url, body, headers } of recordings) {
  test(`a request that ${name} ${version} ${by} is verified, and not with another body or secret`, () => {
    const judged = (text: string, key: string) =>
      schemeFor(scheme).verify(
        { method: "POST", url, headers, body: Buffer.from(text) },
        { secrets: [key], nowSeconds, toleranceSeconds: 300 },
      ).verified;
    assert.equal(judged(body, secret), true);
    assert.equal(judged(`${body} `, secret), false);
    assert.equal(judged(body, otherSecret), false);
  });
}

test("the library of every sender is recorded", () => {
  assert.deepEqual(recordings.map((recording) => recording.package).sort(), [
    "@hubspot/api-client",
    "@linear/sdk",
    "@octokit/webhooks",
    "@shopify/shopify-api",
    "@slack/bolt",
    "discord-interactions",
    "standardwebhooks",
    "stripe",
    "svix",
  ]);
});
