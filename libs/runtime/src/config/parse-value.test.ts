import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { defineProperties, loadConfiguration, type OverrideSet, type PropertyDeclarations } from "../index.ts";
import { checkValue, parseText } from "./parse-value.ts";
import type { PropertyDeclaration } from "./property-declaration.ts";

const shared = { reload: "live", effect: "Something." } as const;
const text = (more: Partial<PropertyDeclaration> = {}) =>
  ({ ...shared, type: "string", default: "a", secrecy: "public", ...more }) as PropertyDeclaration;
const list = (more: Partial<PropertyDeclaration> = {}) =>
  ({ ...shared, type: "list", default: [], secrecy: "public", ...more }) as PropertyDeclaration;

const expectedOf = (declaration: PropertyDeclaration, value: unknown) => {
  const checked = checkValue(declaration, value);
  return checked.ok ? "good" : checked.expected;
};

const credentials = [
  "https://ada:pw@help.example",
  "sbx_live_abcdefgh",
  `sk_live_${"x".repeat(24)}`,
  `rk_live_${"x".repeat(24)}`,
  `ghp_${"x".repeat(36)}`,
  `github_pat_${"x".repeat(40)}`,
  `glpat-${"x".repeat(20)}`,
  `xoxb-${"x".repeat(20)}`,
  `AKIA${"A".repeat(16)}`,
  `AIza${"x".repeat(35)}`,
  `npm_${"x".repeat(36)}`,
  "password=hunter2",
];

test("a value readable for everyone or for every operator contains no credentials, from any source", () => {
  for (const secrecy of ["public", "internal"] as const) {
    for (const value of credentials) {
      assert.equal(expectedOf(text({ secrecy }), value), "a string without credentials", value);
      assert.equal(expectedOf(list({ secrecy }), ["good", value]), "a string without credentials", value);
      assert.equal(parseText(text({ secrecy }), value).ok, false, value);
    }
  }
  for (const value of credentials) assert.equal(expectedOf(text({ secrecy: "secret" }), value), "good");
});

test("the mask of a hidden value is never accepted as a value", () => {
  for (const secrecy of ["public", "internal", "sensitive", "secret"] as const) {
    assert.match(expectedOf(text({ secrecy }), "a ****** b"), /without \*{6}/);
    assert.match(expectedOf(list({ secrecy }), ["******"]), /without \*{6}/);
  }
});

test("a string or list is bounded, whatever its content", () => {
  assert.equal(expectedOf(text(), "x".repeat(1_000)), "good");
  assert.equal(expectedOf(text(), "😀".repeat(1_000)), "good", "characters are counted as people do");
  assert.equal(expectedOf(text(), "x".repeat(1_001)), "a string of at most 1000 characters");
  assert.equal(expectedOf(text({ maxLength: 3 }), "abcd"), "a string of at most 3 characters");
  assert.equal(expectedOf(list({ maxLength: 3 }), ["abcd"]), "a string of at most 3 characters");
  assert.equal(
    expectedOf(
      list(),
      Array.from({ length: 101 }, () => "a"),
    ),
    "a list of at most 100 items",
  );
  assert.equal(expectedOf(list({ maxItems: 1 }), ["a", "b"]), "a list of at most 1 items");
});

test("no string changes the writing direction, breaks a line or contains control characters, unless it is a document", () => {
  const wrong = ["a\u202Eb", "a\u2066b", "a\u0000b", "a\u0007b", "a\u001b[31m", "a\u2028b", "\ud800"];
  for (const value of wrong) {
    assert.match(expectedOf(text(), value), /control characters|bidirectional/, JSON.stringify(value));
    assert.match(
      expectedOf(text({ multiline: true }), value),
      /control characters|bidirectional/,
      JSON.stringify(value),
    );
  }
  assert.match(expectedOf(text(), "a\nb"), /control characters/);
  assert.equal(expectedOf(text({ multiline: true }), "[\n\t1\r\n]"), "good");
});

test('"" is a value only where it is declared; elsewhere it means none or is refused', () => {
  assert.equal(expectedOf(text(), ""), "a non-empty string");
  assert.equal(expectedOf(list(), [""]), "a non-empty string");
  assert.equal(expectedOf(text({ default: null }), ""), "a non-empty string");
  assert.deepEqual(parseText(text({ default: null }), ""), { ok: true, value: null });
  assert.deepEqual(parseText(text({ allowsEmpty: true }), ""), { ok: true, value: "" });
  assert.deepEqual(parseText(list(), ""), { ok: true, value: [] });
});

test("minus zero is zero, as JSON stores it", () => {
  const number = { ...shared, type: "number", default: 1, secrecy: "public" } as const;
  for (const read of [checkValue(number, -0), parseText(number, "-0")]) assert.deepEqual(read, { ok: true, value: 0 });
});

test("absent, null, empty, false and 0 are distinguished", () => {
  const number = { ...shared, type: "integer", default: null, secrecy: "public" } as const;
  assert.deepEqual(checkValue(number, 0), { ok: true, value: 0 });
  assert.deepEqual(checkValue(number, null), { ok: true, value: null });
  assert.equal(checkValue({ ...number, default: 5 }, null).ok, false, "none is no value where there is a default");
  assert.deepEqual(checkValue({ ...shared, type: "boolean", default: true, secrecy: "public" }, false), {
    ok: true,
    value: false,
  });
  assert.deepEqual(checkValue(list(), []), { ok: true, value: [] });
  for (const wrong of [undefined, {}, [], Number.NaN]) assert.equal(checkValue(number, wrong).ok, false);
});

test("a feature that this version lacks cannot be enabled", () => {
  const fixed = { ...shared, type: "boolean", default: false, secrecy: "public", fixed: true } as const;
  assert.deepEqual(checkValue(fixed, false), { ok: true, value: false });
  assert.equal(expectedOf(fixed, true), "false, because this version serves nothing else");
  assert.equal(parseText(fixed, "true").ok, false);
});

test("a value is valid as JSON exactly when it is valid as text", () => {
  const declarations = [
    { ...shared, type: "integer", default: 1, min: -5, max: 5, secrecy: "public" },
    { ...shared, type: "boolean", default: true, secrecy: "public" },
    text(),
  ] as const;
  const value = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.boolean(), fc.string());
  fc.assert(
    fc.property(fc.constantFrom(...declarations), value, (declaration, given) => {
      if (declaration.type === "string" ? typeof given !== "string" : typeof given === "string") return;
      assert.deepEqual(parseText(declaration, String(given)), checkValue(declaration, given));
    }),
  );
});

const common = { secrecy: "internal", reload: "live", effect: "Something." } as const;
const directory = mkdtempSync(join(tmpdir(), "signalbox-laws-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** The sources, highest precedence first. */
const places = ["command line", "environment", "overrides", "profile", "file"] as const;
interface Written {
  readonly place: (typeof places)[number];
  readonly name: string;
  readonly value: number;
}

const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;

function load<P extends PropertyDeclarations>(properties: P, written: readonly Written[]) {
  const at = (place: string) => written.filter((each) => each.place === place);
  const lines = (place: string) => at(place).map(({ name, value }) => `${name}: ${value}\n`);
  writeFileSync(join(directory, "signalbox.laws.yaml"), lines("profile").join(""));
  writeFileSync(join(directory, "signalbox.yaml"), lines("file").join(""));
  const configuration = loadConfiguration({
    service: "account",
    properties,
    directory,
    profile: "laws",
    argv: at("command line").map(({ name, value }) => `--${name}=${value}`),
    environment: Object.fromEntries(at("environment").map(({ name, value }) => [variable(name), `${value}`])),
  });
  const changes = at("overrides").map(({ name, value }) => [name, { revision: 1, set: true, value }] as const);
  configuration.startWith({ revision: 1, changes: Object.fromEntries(changes) });
  return configuration;
}

test("among all sources, overrides included, a prefixed name wins, then the higher source", () => {
  const properties = defineProperties({ "page.size": { ...common, type: "integer", default: 0 } });
  const some = fc.uniqueArray(fc.record({ place: fc.constantFrom(...places), prefixed: fc.boolean() }), {
    selector: ({ place, prefixed }) => `${place} ${prefixed}`,
  });
  fc.assert(
    fc.property(some, (chosen) => {
      const written = chosen.map(({ place, prefixed }) => ({
        place,
        name: prefixed ? "account.page.size" : "page.size",
        value: 1 + places.indexOf(place) + (prefixed ? 0 : places.length),
      }));
      const wanted = Math.min(...written.map(({ value }) => value));
      assert.equal(load(properties, written).get("page.size"), written.length === 0 ? 0 : wanted);
    }),
    { numRuns: 60 },
  );
});

test("a property's variable is its name with every separator as an underscore", () => {
  const word = fc.stringMatching(/^[a-z][a-zA-Z0-9]{0,8}$/);
  const name = fc
    .array(fc.tuple(word, fc.constantFrom(".", "-")), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map(([text, sign], index) => (index === 0 ? text : sign + text)).join(""))
    .filter((text) => text !== "profile" && !text.startsWith("config."));
  fc.assert(
    fc.property(name, fc.boolean(), fc.integer(), (bare, prefixed, value) => {
      const properties = defineProperties({ [bare]: { ...common, type: "integer", default: 0 } });
      for (const place of ["command line", "environment", "file"] as const) {
        const configuration = load(properties, [{ place, name: prefixed ? `account.${bare}` : bare, value }]);
        assert.equal(configuration.get(bare), value, place);
      }
    }),
    { numRuns: 60 },
  );
});

const ruled = defineProperties({
  "page.max": { ...common, type: "integer", default: 100, min: 1 },
  "page.size": { ...common, type: "integer", default: 20, min: 1, atMost: "page.max" },
  locales: { ...common, type: "list", default: ["en", "de"], minItems: 1 },
  locale: { ...common, type: "string", default: "en", oneOf: "locales" },
});

test("no order of overrides breaks a rule or refuses one without a reason", () => {
  const locale = fc.constantFrom("en", "de", "fr");
  const values = fc.oneof(
    fc.record({ name: fc.constantFrom("page.max", "page.size"), value: fc.integer({ min: 0, max: 120 }) }),
    fc.record({ name: fc.constant("locales"), value: fc.uniqueArray(locale, { maxLength: 3 }) }),
    fc.record({ name: fc.constant("locale"), value: locale }),
  );
  fc.assert(
    fc.property(fc.array(values, { maxLength: 12 }), (sequence) => {
      const configuration = load(ruled, []);
      const changes: Record<string, OverrideSet["changes"][string]> = {};
      for (const [index, { name, value }] of sequence.entries()) {
        const revision = index + 1;
        changes[name] = { revision, set: true, value };
        const problems = configuration.setOverrides({ revision, changes: { ...changes } });
        const [max, size] = [configuration.get("page.max"), configuration.get("page.size")];
        const [locales, own] = [configuration.get("locales"), configuration.get("locale")];
        assert.ok(size <= max && size >= 1 && locales.length > 0 && locales.includes(own));
        const refused = new Set(problems.map(({ property }) => property));
        for (const [changed, { value: wanted }] of Object.entries(changes)) {
          const running = configuration.get(changed as keyof typeof ruled);
          if (!refused.has(changed)) assert.deepEqual(running, wanted, changed);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a URL is one that readers can parse, from every source", () => {
  const link = text({ pattern: "https?://.+", format: "url" });
  for (const url of ["https://h", "http://h:65535/a?b#c", "https://[::1]:8080/", "https://münchen.example/ü"]) {
    assert.equal(expectedOf(link, url), "good", url);
    assert.equal(parseText(link, url).ok, true, url);
  }
  const expected = "an absolute URL without spaces, with a valid host and port";
  for (const url of [
    "https://h ost/",
    "https://h:99999/",
    "https://[::1",
    "https://h/a b",
    "http://%",
    "https://:80",
  ]) {
    assert.equal(expectedOf(link, url), expected, url);
    assert.deepEqual(parseText(link, url), { ok: false, expected }, url);
    assert.equal(expectedOf(list({ format: "url" }), ["https://h", url]), expected, url);
  }
});

test("a locale is read in its canonical form, from every source", () => {
  const locale = text({ format: "locale" });
  for (const [given, read] of [
    ["pt-br", "pt-BR"],
    ["EN", "en"],
    ["zh-hans-cn", "zh-Hans-CN"],
  ] as const) {
    assert.deepEqual([checkValue(locale, given), parseText(locale, given)], Array(2).fill({ ok: true, value: read }));
  }
  for (const wrong of ["<b>en</b>", "en_US", "english", "en-aa-bb", "en-u-ca-buddhist", "-"])
    assert.equal(expectedOf(locale, wrong), "a BCP 47 tag, such as pt-BR", wrong);
  const listed = checkValue(list({ format: "locale" }), ["de", "pt-br", "pt-BR"]);
  assert.deepEqual(listed, { ok: true, value: ["de", "pt-BR"] });
});
