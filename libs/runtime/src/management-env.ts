import { masked, serviceNames } from "@signalbox/core";
import type { Configuration, PropertyEntry, PropertyLookup, PropertySource } from "./config/configuration.ts";
import type { ShownClasses } from "./config/masking.ts";
import type { RuntimeProperties } from "./properties.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** A service of this process, as seen by its management server. */
export interface ManagedService {
  readonly service: string;
  readonly configuration: Configuration<never>;
  readonly metrics: Metrics;
}

type Services = readonly ManagedService[];

/**
 * Merges the sources of all services of the process into one list. Defaults differ by service, so they carry its name.
 */
export function listSources(services: Services, who: Reader, pattern: string | null): PropertySource[] {
  const merged = new Map<string, Record<string, PropertyEntry>>();
  for (const { service, configuration } of services) {
    for (const source of configuration.propertySources(shownTo(who, configuration))) {
      const properties = merged.get(source.name) ?? {};
      merged.set(source.name, properties);
      for (const [address, entry] of Object.entries(source.properties)) {
        const key = source.name === "defaults" ? qualified(services, service, address) : address;
        properties[key] = stricter(services, key, properties[key], entry, configuration.knows(address));
      }
    }
  }
  return [...merged].map(([name, properties]) => ({
    name,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => matches(key, pattern))),
  }));
}

/** The reader of values; an operator may also change the configuration. */
export type Reader = "ok" | "operator";

const classes = ["public", "internal", "sensitive"] as const;

/** Returns the classes of values visible to a reader: `management.endpoint.env.show-values.*`. */
function shownTo(who: Reader, configuration: Configuration<never>): ShownClasses {
  return classes.filter((secrecy) => {
    const common = configuration as Configuration<RuntimeProperties>;
    const rule = common.get(`management.endpoint.env.show-values.${secrecy}`);
    return rule === "always" || (rule === "when-authorized" && who === "operator");
  });
}

/**
 * Returns true when a name contains the parts of the pattern in their order; `*` matches anything. Takes time
 * proportional to both.
 */
function matches(name: string, pattern: string | null): boolean {
  if (pattern === null) return true;
  const parts = pattern.split("*");
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** Finds one property, by its prefixed or bare name; a bare name is looked up in the first service that has it. */
export function findProperty(services: Services, name: string, who: Reader): PropertyLookup | null {
  const prefix = serviceNames.find((service) => name.startsWith(`${service}.`));
  const own = services.filter(({ service }) => service === prefix);
  for (const { configuration } of [...own, ...services]) {
    const found = configuration.find(name, shownTo(who, configuration));
    if (found) return found;
  }
  return null;
}

function qualified(services: Services, service: string, address: string): string {
  return services.length === 1 || address.startsWith(`${service}.`) ? address : `${service}.${address}`;
}

/** Merges two services' views of one shared value: one that declares the name decides, and between two a mask wins. */
function stricter(
  services: Services,
  key: string,
  present: PropertyEntry | undefined,
  entry: PropertyEntry,
  isKnown: boolean,
): PropertyEntry {
  if (present === undefined) return entry;
  const knowers = services.filter(({ configuration }) => configuration.knows(key)).length;
  if (!isKnown) return present;
  return present.value === masked && knowers > 1 ? present : entry;
}
