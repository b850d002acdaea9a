import type { PropertyDeclaration } from "@signalbox/runtime";
import type { Generator } from "../generator.ts";
import { type PackageProperties, packageProperties } from "../package-properties.ts";

/** The properties of services that a process does not import. */
export const propertyCatalogue: Generator = {
  name: "property catalogue",
  kind: "built",
  folders: async () => [],
  generate: async () => {
    const services = (await packageProperties()).filter(({ kind }) => kind === "service");
    await assertRules(services);
    const byService = Object.fromEntries(services.map(({ name, properties }) => [name, properties]));
    const names = [...new Set(services.flatMap(({ properties }) => Object.keys(properties)))].sort();
    return new Map([
      // The config service checks overrides of every service.
      ["services/config/src/generated/properties.json", `${JSON.stringify(byService, null, 2)}\n`],
      // A process accepts names of other services in a shared source.
      ["libs/runtime/src/generated/property-names.json", `${JSON.stringify(names, null, 2)}\n`],
    ]);
  },
};

/** The page of every property of every service. */
export const propertyPage: Generator = {
  name: "property page",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const services = (await packageProperties()).filter(({ kind }) => kind === "service");
    return new Map([["docs/reference/properties.md", pageOf(services)]]);
  },
};

function pageOf(services: readonly PackageProperties[]): string {
  const names = [...new Set(services.flatMap(({ properties }) => Object.keys(properties)))].sort();
  const rows = names.map((name) => {
    const having = services.filter(({ properties }) => Object.hasOwn(properties, name));
    const declaration = having[0]?.properties[name] as PropertyDeclaration;
    const where = having.length === services.length ? "all" : having.map((service) => service.name).join(", ");
    const { secrecy, audience = "operator", effect } = declaration;
    const cells = [`\`${name}\``, where, boundsOf(declaration), secrecy, audience, changeOf(declaration), effect];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return [
    "# Properties",
    "",
    "Generated from the declarations of all services. How they are given and changed: [configuration](configuration.md).",
    "Change says how an override takes effect: `live`, at the next `restart`, or not at all (`local`, and secrets).",
    "",
    "| name | services | bounds | class | audience | change | effect |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function changeOf({ local, secrecy, reload, guarded }: PropertyDeclaration): string {
  if (local || secrecy === "secret") return "local";
  return guarded ? `${reload}, guarded` : reload;
}

/** Describes the type, the default, and the bounds of a value, including the rules between properties. */
function boundsOf(declaration: PropertyDeclaration): string {
  const {
    type,
    unit,
    default: standard,
    choices,
    min,
    max,
    pattern,
    maxLength,
    minItems,
    maxItems,
    atMost,
    oneOf,
  } = declaration;
  const range = min === undefined && max === undefined ? [] : [`${min ?? "…"} to ${max ?? "…"}`];
  const rules = Object.entries({ minItems, maxItems, maxLength, atMost, oneOf }).flatMap(([rule, value]) =>
    value === undefined ? [] : [`${rule} ${value}`],
  );
  return [
    unit === undefined ? type : `${type} (${unit})`,
    ...(declaration.required ? ["required"] : [`default \`${JSON.stringify(standard)}\``]),
    ...(choices ? [choices.map((choice) => `\`${choice}\``).join(", ")] : []),
    ...range,
    ...rules,
    ...(pattern ? [`\`${pattern}\``] : []),
  ].join("; ");
}

/** Checks that the defaults keep the rules between properties. */
async function assertRules(services: readonly PackageProperties[]): Promise<void> {
  const { brokenRules } = await import("@signalbox/runtime");
  for (const { name, properties } of services) {
    const [broken] = brokenRules(properties, (property) => properties[property]?.default ?? null);
    if (broken) throw new Error(`The default of ${broken.property} in ${name} must be ${broken.expected}.`);
  }
}
