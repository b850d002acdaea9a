import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import {
  mask,
  type PropertyDeclaration,
  type PropertyDeclarations,
  type PropertyScalar,
  refusalOfOverride,
} from "@signalbox/config";
import { AppError, type DetailCode } from "@signalbox/core";

/** Every property of every service, written by `npm run generate`. */
const propertiesFile = new URL("../generated/properties.json", import.meta.url);

type OverridableSecrecy = "public" | "internal" | "sensitive";

export interface PropertyCatalogue {
  /** Checks that `name` is declared and takes overrides. Throws AppError `not_found` or `validation_error`. */
  overridable(name: string): { readonly secrecy: OverridableSecrecy };
  /** The secrecy of an override that was made; one of a property that takes none any more is `sensitive`. */
  secrecyOf(name: string): OverridableSecrecy;
  /** Throws AppError `validation_error` saying what would be right, when a service that declares `name` would refuse it. */
  assertFits(name: string, value: unknown): void;
  /** Whether a value of this property is only shown as a mask: for what was declared, its name or its looks. */
  isMasked(name: string, value: unknown): boolean;
}

/** Reads what may be overridden and how, for all services: config imports none of them. */
export async function readPropertyCatalogue(): Promise<PropertyCatalogue> {
  return createPropertyCatalogue(JSON.parse(await readFile(propertiesFile, "utf8")));
}

export function createPropertyCatalogue(byService: Readonly<Record<string, PropertyDeclarations>>): PropertyCatalogue {
  /** `account.database.pool.max` is one service's own name for `database.pool.max`, which is every service's default. */
  function find(name: string): PropertyDeclaration[] {
    return Object.entries(byService).flatMap(([service, properties]) => {
      const own = name.startsWith(`${service}.`) ? declared(properties, name.slice(service.length + 1)) : undefined;
      const declaration = own ?? declared(properties, name);
      return declaration === undefined ? [] : [declaration];
    });
  }
  function declarationsOf(name: string): PropertyDeclaration[] {
    const found = find(name);
    if (found.length === 0) throw new AppError("not_found", `No service has a property ${name}.`, { field: "name" });
    return found;
  }
  return {
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
    isMasked: (name, value) =>
      declarationsOf(name).some(
        (declaration) => !isDeepStrictEqual(mask(name, value as PropertyScalar, declaration), value),
      ),
  };
}

/** Names come from outside, and every object has members that nobody declared. */
const declared = (properties: PropertyDeclarations, name: string): PropertyDeclaration | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

const refused = (field: string, code: DetailCode, message: string): AppError =>
  new AppError("validation_error", message, { details: [{ field, code, message }] });
