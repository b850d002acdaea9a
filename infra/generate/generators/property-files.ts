import type { Generator } from "../generator.ts";
import { type PackageProperties, packageProperties } from "../package-properties.ts";

/** What running processes have to know of the properties of services they do not import. */
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
      // A process does not refuse a name in a shared place that another service knows.
      ["libs/runtime/src/generated/property-names.json", `${JSON.stringify(names, null, 2)}\n`],
    ]);
  },
};

/** Every property of every service in one file, against which the config service validates overrides. */
export const propertyReference: Generator = {
  name: "property reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const services = (await packageProperties()).filter(({ kind }) => kind === "service");
    const byService = Object.fromEntries(services.map(({ name, properties }) => [name, sorted(properties)]));
    return new Map([["docs/reference/properties.json", `${JSON.stringify(byService, null, 2)}\n`]]);
  },
};

/** The defaults keep the rules between properties. */
async function assertRules(services: readonly PackageProperties[]): Promise<void> {
  const { brokenRules } = await import("@signalbox/config");
  for (const { name, properties } of services) {
    const [broken] = brokenRules(properties, (property) => properties[property]?.default ?? null);
    if (broken) throw new Error(`The default of ${broken.property} in ${name} must be ${broken.expected}.`);
  }
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
