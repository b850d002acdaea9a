import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  ConfigurationError,
  checkValue,
  loadConfiguration,
  type PropertyDeclaration,
  type PropertyDeclarations,
  refusalOfOverride,
} from "@signalbox/runtime";
import fc from "fast-check";
import { valuesOf } from "./generated-values.ts";

const file = new URL("../src/generated/properties.json", import.meta.url);
const catalogue: Readonly<Record<string, PropertyDeclarations>> = JSON.parse(readFileSync(file, "utf8"));
const declarations = new Map(Object.values(catalogue).flatMap((properties) => Object.entries(properties)));

const directory = mkdtempSync(join(tmpdir(), "signalbox-properties-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** Starts an instance that declares one property, on these sources. */
function start(name: string, declaration: PropertyDeclaration, sources: { environment?: object; yaml?: string } = {}) {
  const { environment = {}, yaml = "" } = sources;
  const { required: _, atMost: _bound, oneOf: _list, ...alone } = declaration;
  writeFileSync(join(directory, "signalbox.yaml"), yaml);
  const properties = { [name]: alone as PropertyDeclaration };
  return loadConfiguration({ service: "config", properties, argv: [], environment: { ...environment }, directory });
}

/** Returns the value that an instance runs with, and `undefined` where it refuses to start. */
function valueFrom(name: string, declaration: PropertyDeclaration, sources: Parameters<typeof start>[2]) {
  try {
    return start(name, declaration, sources).get(name);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    return undefined;
  }
}

function isOwnType({ type }: PropertyDeclaration, value: unknown): boolean {
  if (type === "list") return Array.isArray(value) && value.every((item) => typeof item === "string");
  return typeof value === (type === "integer" ? "number" : type);
}

test("a value of any property is one where it is set exactly when an instance runs with it", () => {
  for (const [name, declaration] of declarations) {
    fc.assert(
      fc.property(valuesOf(declaration), (value) => {
        const configuration = start(name, declaration);
        const changes = { [name]: { revision: 1, set: true, value } };
        const isAccepted = refusalOfOverride(declaration, value) === null;
        assert.equal(
          configuration.startWith({ revision: 1, changes }).length === 0,
          isAccepted,
          `${name}: ${JSON.stringify(value)}`,
        );
        const checked = checkValue(declaration, isAccepted ? value : declaration.default);
        assert.deepEqual(configuration.get(name), checked.ok ? checked.value : null, name);
      }),
      { numRuns: 8 },
    );
  }
});

test("a value of any property is read alike from an override, a file or the environment", () => {
  for (const [name, declaration] of declarations) {
    const variable = `SIGNALBOX_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
    const own = valuesOf(declaration).filter((value) => isOwnType(declaration, value));
    fc.assert(
      fc.property(own, (value) => {
        const parsed = checkValue(declaration, value);
        const expected = parsed.ok ? parsed.value : undefined;
        // YAML has spellings for numbers that JSON lacks.
        const isWritable = typeof value !== "number" || Number.isFinite(value);
        const yaml = `${name}: ${isWritable ? JSON.stringify(value) : value < 0 ? "-.inf" : ".inf"}\n`;
        const isNone = value === "" && declaration.default === null && !declaration.allowsEmpty;
        assert.deepEqual(valueFrom(name, declaration, { yaml }), isNone ? null : expected, `${name}: ${yaml}`);
        if (Array.isArray(value)) return;
        const environment = { [variable]: String(value) };
        assert.deepEqual(valueFrom(name, declaration, { environment }), isNone ? null : expected, `${name}: ${value}`);
      }),
      { numRuns: 4 },
    );
  }
});
