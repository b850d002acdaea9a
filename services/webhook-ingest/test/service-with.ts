import type { IngestService } from "../src/context/ingest-service.ts";
import type { properties } from "../src/properties.ts";

type Parts = { readonly [Name in keyof IngestService]?: Partial<IngestService[Name]> };

/** The context with the given parts alone: an operation that leans on another fails with its name. */
export const serviceWith = (parts: Parts): IngestService => failing(parts, "part") as IngestService;

/** A configuration with these values alone. */
export const configurationWith = (
  values: Partial<Record<keyof typeof properties, unknown>>,
): Partial<IngestService["configuration"]> => {
  const known = failing(values, "property") as Record<string, never>;
  return { get: (name) => known[name] as never };
};

const failing = (given: object, kind: string): object =>
  new Proxy(given, {
    get(target, name) {
      if (!(name in target)) throw new Error(`The test gives no ${kind} ${String(name)}.`);
      return Reflect.get(target, name);
    },
  });
