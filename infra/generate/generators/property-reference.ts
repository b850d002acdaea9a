import type { Generator } from "../generator.ts";
import { packageProperties } from "../package-properties.ts";

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

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
