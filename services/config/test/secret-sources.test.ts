import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  type Configuration,
  ConfigurationError,
  defineProperties,
  loadConfiguration,
  type ShownClasses,
} from "@signalbox/runtime";
import { languages, newSecret, placesOf, secretShapes } from "./secret-shapes.ts";

const common = { type: "string", default: null, reload: "live", effect: "Something.", maxLength: 8_000 } as const;
const properties = defineProperties({
  "note.public": { ...common, secrecy: "public" },
  "note.internal": { ...common, secrecy: "internal" },
  "note.sensitive": { ...common, secrecy: "sensitive" },
  "note.secret": { ...common, secrecy: "secret" },
});
const classes = ["public", "internal", "sensitive", "secret"] as const;
/** Every combination of classes that an operator may choose to see, up to all of them. */
const shown: readonly ShownClasses[] = [[], ["public", "internal"], ["public", "internal", "sensitive"]];

const directory = mkdtempSync(join(tmpdir(), "signalbox-secrets-"));
after(() => rmSync(directory, { recursive: true, force: true }));

type Given = Readonly<Record<string, string>>;
const load = (given: { argv?: string[]; environment?: Given; file?: string; text?: string }) => {
  for (const name of ["signalbox.yaml", "signalbox.test.yaml"]) {
    writeFileSync(join(directory, name), name === given.file ? (given.text ?? "") : "");
  }
  const { argv = [], environment = {} } = given;
  return loadConfiguration({ service: "config", properties, argv, environment, directory, profile: "test" });
};
const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replaceAll(".", "_")}`;

/** Sets a property from each source. A refusal is thrown, or returned as the problems of an override. */
const sources: Readonly<Record<string, (name: string, value: string) => [Configuration<typeof properties>, unknown]>> =
  {
    "command line": (name, value) => [load({ argv: [`--${name}=${value}`] }), null],
    environment: (name, value) => [load({ environment: { [variable(name)]: value } }), null],
    profile: (name, value) => [
      load({ file: "signalbox.test.yaml", text: `${name}: ${JSON.stringify(value)}\n` }),
      null,
    ],
    file: (name, value) => [load({ file: "signalbox.yaml", text: `config.${name}: ${JSON.stringify(value)}\n` }), null],
    overrides: (name, value) => {
      const configuration = load({});
      const problems = configuration.setOverrides({
        revision: 1,
        changes: { [name]: { revision: 1, set: true, value } },
      });
      return [configuration, problems.length > 0 ? problems : null];
    },
  };

interface Said {
  /** Every output that may contain the value. */
  readonly places: Readonly<Record<string, string>>;
  readonly isRefused: boolean;
  readonly value: unknown;
}

function saidOf(source: string, name: keyof typeof properties & string, value: string): Said {
  try {
    const [configuration, problems] = sources[source]?.(name, value) ?? assert.fail(source);
    const views = shown.map((each) => [
      configuration.propertySources(each),
      ...Object.keys(properties).map((one) => configuration.find(one, each)),
    ]);
    const places = {
      views: JSON.stringify([views, configuration.propertySources(), configuration.find(name)]),
      reports: JSON.stringify(configuration.runningValues()),
      problems: JSON.stringify(problems),
    };
    return { places, isRefused: problems !== null, value: configuration.get(name) };
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    const places = { error: `${error.message}\n${error.stack}`, problems: JSON.stringify(error.problems) };
    return { places, isRefused: true, value: null };
  }
}

for (const source of Object.keys(sources)) {
  test(`no secret of any shape, class and language is shown when its source is the ${source}`, () => {
    for (const [shape, write] of Object.entries(secretShapes)) {
      for (const [language, around] of Object.entries(languages)) {
        for (const secrecy of classes) {
          const secret = newSecret();
          const text = around(write(secret));
          const { places, isRefused, value } = saidOf(source, `note.${secrecy}`, text);
          const what = `${shape}, ${secrecy}, ${language}`;
          assert.deepEqual(placesOf([secret], places), [], what);
          const isTaken = secrecy === "sensitive" || (secrecy === "secret" && source !== "overrides");
          assert.equal(isRefused, !isTaken, `${what}: visible properties accept no credentials`);
          assert.equal(value, isTaken ? text : null, `${what}: it was planted`);
        }
      }
    }
  });
}

test("a visible value is found by the same search, in every place", () => {
  for (const source of Object.keys(sources)) {
    const harmless = newSecret();
    const { places } = saidOf(source, "note.public", harmless);
    assert.deepEqual(placesOf([harmless], places), ["views", "reports"], source);
  }
  const [refused, tooLong] = [newSecret(), "x".repeat(9_000)];
  const { places } = saidOf("command line", "note.public", `${refused} ${tooLong}`);
  assert.deepEqual(placesOf([refused], places), ["error", "problems"], "a refused value is only shown to its author");
});
