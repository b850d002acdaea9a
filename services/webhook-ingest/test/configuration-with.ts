import { onlyOf } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import type { properties } from "../src/properties.ts";

/** Builds a configuration with these values alone. */
export const configurationWith = (
  values: Partial<Record<keyof typeof properties, unknown>>,
): Partial<IngestService["configuration"]> => {
  const known = onlyOf(values) as Record<string, never>;
  return { get: (name) => known[name] as never };
};
