import assert from "node:assert/strict";
import { test } from "node:test";
import type { Preset } from "./presets/preset.ts";
import { presets } from "./presets/presets.ts";
import { identityPlaces, schemeOf } from "./schemes/schemes.ts";

const all: readonly (readonly [string, Preset])[] = Object.entries(presets);
type Vector = Preset["vector"];

function judged({ scheme, settings, vector }: Preset, change: Partial<Vector> = {}): string {
  const { url = "https://hub.example/ingest/src_1", headers, body, secret, ...rest } = { ...vector, ...change };
  const request = { method: "POST", url, headers, body: Buffer.from(body) };
  const { atSeconds, certificate = null } = rest;
  const limits = { secrets: [secret], nowSeconds: atSeconds, toleranceSeconds: 300, certificate };
  const verdict = schemeOf(scheme, { ...settings, ...vector.settings }).verify(request, limits);
  return verdict.verified ? "verified" : verdict.problem;
}

/** Schemes whose signature covers the bytes of the body. */
function coversBody({ scheme, settings }: Preset): boolean {
  const { covers, signedText } = schemeOf(scheme, settings);
  return signedText === undefined && covers({ pointer: "/any/member" });
}

function withoutByte(text: string, at: number): string {
  const bytes = Buffer.from(text);
  bytes[at] = (bytes[at] as number) ^ 1;
  return bytes.toString("latin1");
}

for (const [name, preset] of all) {
  const { vector } = preset;
  test(`${name}: the request verifies with its secret, but not with one wrong byte`, () => {
    assert.equal(judged(preset), "verified");
    if (coversBody(preset)) {
      for (let at = 0; at < Buffer.byteLength(vector.body); at++)
        assert.notEqual(judged(preset, { body: withoutByte(vector.body, at) }), "verified", `byte ${at} of the body`);
      assert.notEqual(judged(preset, { body: `${vector.body} ` }), "verified");
    }
    for (const value of signedValues(preset)) {
      const [changed] = [vector.body.replace(JSON.stringify(value).slice(1, -1), `${value.slice(0, -1)}~`)];
      assert.notEqual(changed, vector.body, value);
      assert.notEqual(judged(preset, { body: changed }), "verified", value);
    }
    assert.notEqual(judged(preset, { secret: `${vector.secret.slice(0, -1)}~` }), "verified");
  });
}

/** Texts of the body that a template signs one by one, and the signature itself where it is in the body. */
function signedValues({ scheme, settings, vector }: Preset): string[] {
  const names = [...(settings.signedContent ?? "").matchAll(/\{(?:body:\/|line:)([^}]+)\}/g)].map(
    ([, path]) => path ?? "",
  );
  const { signatureFrom, tokenFrom = null } = settings;
  const token = scheme === "jwt" && tokenFrom !== null && tokenFrom !== "path" && "pointer" in tokenFrom && tokenFrom;
  const places = [...names, signatureFrom?.pointer.slice(1) ?? "", token ? token.pointer.slice(1) : ""];
  const isForm = vector.headers["content-type"] === "application/x-www-form-urlencoded";
  const read = () => (isForm ? Object.fromEntries(new URLSearchParams(vector.body)) : JSON.parse(vector.body));
  const payload = places.join("") === "" ? null : read();
  return places.flatMap((place) => {
    const value = place.split("/").reduce((owner, name) => owner?.[name], payload);
    return typeof value === "string" ? [value] : [];
  });
}

test("a preset has everything that its owner is told", () => {
  assert.ok(all.length >= 60, `${all.length} presets`);
  for (const [name, { title, documentation, secretFrom, steps, notes, retries, vector }] of all) {
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(documentation, /^https:\/\/[^ ]+$/, name);
    assert.ok(steps.length >= 2, `${name} has no steps`);
    for (const sentence of [...steps, ...notes, retries])
      assert.match(sentence, /^[A-Z`\d].*[.:]$/, `${name}: ${sentence}`);
    for (const text of [title, secretFrom, vector.from]) assert.ok(text.trim() === text && text !== "", name);
    assert.doesNotMatch(secretFrom, /[.]$/, name);
  }
  assert.equal(new Set(all.map(([, { title }]) => title)).size, all.length, "one title each");
});

test("a value is shown as signed only where the signature covers its place", () => {
  const signedIds = all.filter(([, { scheme, settings }]) => {
    const place = settings.deliveryIdFrom ?? identityPlaces(scheme, settings).deliveryId;
    return place !== "digest" && schemeOf(scheme, settings).covers(place);
  });
  const names = signedIds.map(([name]) => name);
  for (const signed of ["stripe", "standard-webhooks", "slack", "mux", "telnyx", "app-store"])
    assert.ok(names.includes(signed), signed);
  for (const open of ["github", "shopify", "gitlab", "bitbucket", "auth0", "dropbox", "sanity", "plaid"])
    assert.ok(!names.includes(open), open);
});
