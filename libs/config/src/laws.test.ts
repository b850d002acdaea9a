import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { defineProperties, loadConfiguration, type OverrideSet, type PropertyDeclarations } from "./index.ts";

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

test("among all sources, overrides included, the prefixed name wins, and then the higher source", () => {
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

test("for any overrides in any order, no running value breaks a rule, and none is refused without a reason", () => {
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
