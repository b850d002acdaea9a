import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import {
  brokenRules,
  type Configuration,
  mask,
  type PropertyDeclaration,
  type PropertyDeclarations,
  type PropertyScalar,
  refusalOfOverride,
} from "@signalbox/config";
import { AppError, type DetailCode, maskText } from "@signalbox/core";

/** Every property of every service, written by `npm run generate`. */
const propertiesFile = new URL("../generated/properties.json", import.meta.url);

type OverridableSecrecy = "public" | "internal" | "sensitive";

/** The value that other sources than the overrides give a property here, and whether that source is above them. */
export type Elsewhere = (name: string) => { readonly value: PropertyScalar; readonly isAbove: boolean } | null;

/** A property and the services that have it; all declare it alike. */
interface CataloguedProperty {
  readonly name: string;
  readonly services: readonly string[];
  readonly declaration: PropertyDeclaration;
}

export interface PropertyCatalogue {
  /** Every property, in the order of their names. */
  all(): readonly CataloguedProperty[];
  /** Checks that `name` is declared and takes overrides. Throws AppError `not_found` or `validation_error`. */
  overridable(name: string): { readonly secrecy: OverridableSecrecy };
  /** The property that a name overrides, and the services that it reaches. Throws AppError `not_found`. */
  target(name: string): { property: string; services: readonly string[]; declaration: PropertyDeclaration };
  /** The secrecy of an override that was made; one of a property that takes none any more is `sensitive`. */
  secrecyOf(name: string): OverridableSecrecy;
  /** Throws AppError `validation_error` saying what would be right, when a service that declares `name` would refuse it. */
  assertFits(name: string, value: unknown): void;
  /** Throws AppError `validation_error` when these overrides break a rule between `name` and another property. */
  assertRules(name: string, overrides: ReadonlyMap<string, unknown>, elsewhere: Elsewhere): void;
  /** Whether a value of this property is only shown as a mask: for what was declared, its name or its looks. */
  isMasked(name: string, value: unknown): boolean;
}

/** The names under which a property of this service is overridden; the first beats the second. */
export const addressesOf = (service: string, property: string): string[] =>
  property.startsWith(`${service}.`) ? [property] : [`${service}.${property}`, property];

/** Reads what may be overridden and how, for all services: config imports none of them. */
export async function readPropertyCatalogue(): Promise<PropertyCatalogue> {
  return createPropertyCatalogue(JSON.parse(await readFile(propertiesFile, "utf8")));
}

export function createPropertyCatalogue(byService: Readonly<Record<string, PropertyDeclarations>>): PropertyCatalogue {
  const { find, declarationsOf, catalogued, target } = lookUpIn(byService);
  return {
    all: () => catalogued,
    target,
    overridable(name) {
      const declarations = declarationsOf(name);
      const closed = declarations.find(({ secrecy, local }) => secrecy === "secret" || local === true);
      const [first] = declarations;
      if (closed !== undefined || first === undefined || first.secrecy === "secret") {
        throw refused("name", "not_allowed", `${name} takes no override.`);
      }
      return { secrecy: first.secrecy };
    },
    secrecyOf(name) {
      const secrecy = find(name)[0]?.secrecy ?? "secret";
      return secrecy === "secret" ? "sensitive" : secrecy;
    },
    assertFits(name, value) {
      for (const declaration of declarationsOf(name)) {
        const expected = refusalOfOverride(declaration, value);
        if (expected === null) continue;
        throw refused("value", "invalid_value", `${name} must be ${expected}.`);
      }
    },
    assertRules(name, overrides, elsewhere) {
      for (const [service, properties] of Object.entries(byService)) {
        const read = (property: string) => {
          const given = elsewhere(property);
          const address = addressesOf(service, property).find((candidate) => overrides.has(candidate));
          if (address !== undefined && !given?.isAbove) return overrides.get(address) as PropertyScalar;
          return given ? given.value : (properties[property]?.default ?? null);
        };
        const broken = brokenRules(properties, read).find((rule) =>
          [rule.property, rule.other].some((property) => addressesOf(service, property).includes(name)),
        );
        if (broken) throw refused("value", "invalid_value", `${broken.property} must be ${broken.expected}.`);
      }
    },
    isMasked: (name, value) =>
      declarationsOf(name).some(
        (declaration) => !isDeepStrictEqual(mask(name, value as PropertyScalar, declaration), value),
      ),
  };
}

/** Finds properties by the names that overrides have. */
function lookUpIn(byService: Readonly<Record<string, PropertyDeclarations>>) {
  /** `account.database.pool.max` is one service's own name for `database.pool.max`, which is every service's default. */
  function find(name: string): PropertyDeclaration[] {
    return Object.entries(byService).flatMap(([service, properties]) => {
      const own = name.startsWith(`${service}.`) ? declared(properties, name.slice(service.length + 1)) : undefined;
      const declaration = own ?? declared(properties, name);
      return declaration === undefined ? [] : [declaration];
    });
  }
  function target(name: string) {
    const known = catalogued.find((property) => property.name === name);
    if (known) return { property: name, services: known.services, declaration: known.declaration };
    const service = Object.keys(byService).find((each) => name.startsWith(`${each}.`)) ?? "";
    const property = name.slice(service.length + 1);
    const [declaration] = declarationsOf(name);
    return { property, services: [service], declaration: declaration as PropertyDeclaration };
  }
  function declarationsOf(name: string): PropertyDeclaration[] {
    const found = find(name);
    if (found.length === 0)
      throw new AppError("not_found", `No service has a property ${maskText(name)}.`, { field: "name" });
    return found;
  }
  const names = [...new Set(Object.values(byService).flatMap((properties) => Object.keys(properties)))].sort();
  const catalogued = names.map((name) => {
    const having = Object.entries(byService).filter(([, properties]) => Object.hasOwn(properties, name));
    const declaration = having[0]?.[1][name] as PropertyDeclaration;
    return { name, services: having.map(([service]) => service), declaration };
  });
  return { find, declarationsOf, catalogued, target };
}

/** What this process is told by other sources than the overrides: those that are shared say the same to every service. */
export const elsewhereOf =
  (configuration: Pick<Configuration<never>, "find">): Elsewhere =>
  (name) => {
    const sources = configuration.find(name)?.propertySources ?? [];
    const own = sources.find(({ name: source, property }) => source !== "overrides" && property !== undefined);
    if (own?.property === undefined) return null;
    return { value: own.property.value, isAbove: own.name === "command line" || own.name === "environment" };
  };

/** Names come from outside, and every object has members that nobody declared. */
const declared = (properties: PropertyDeclarations, name: string): PropertyDeclaration | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

const refused = (field: string, code: DetailCode, message: string): AppError =>
  new AppError("validation_error", message, { details: [{ field, code, message }] });
