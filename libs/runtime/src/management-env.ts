import type { Configuration, PropertyEntry, PropertyLookup, PropertySource } from "@signalbox/config";
import { masked, serviceNames } from "@signalbox/core";
import type { Metrics } from "@signalbox/telemetry";

/** A service of this process, as its management server shows it. */
export interface ManagedService {
  readonly service: string;
  readonly configuration: Configuration<never>;
  readonly metrics: Metrics;
}

type Services = readonly ManagedService[];

/** The sources of all services of the process as one list. Defaults differ by service and so carry its name. */
export function listSources(services: Services): PropertySource[] {
  const merged = new Map<string, Record<string, PropertyEntry>>();
  for (const { service, configuration } of services) {
    for (const source of configuration.propertySources()) {
      const properties = merged.get(source.name) ?? {};
      merged.set(source.name, properties);
      for (const [address, entry] of Object.entries(source.properties)) {
        const key = source.name === "defaults" ? qualified(services, service, address) : address;
        properties[key] = stricter(services, key, properties[key], entry, configuration.knows(address));
      }
    }
  }
  return [...merged].map(([name, properties]) => ({ name, properties }));
}

/** One property, by the name of a service or bare; a bare name is looked up in the first service that has it. */
export function findProperty(services: Services, name: string): PropertyLookup | null {
  const prefix = serviceNames.find((service) => name.startsWith(`${service}.`));
  const own = services.filter(({ service }) => service === prefix);
  for (const { configuration } of [...own, ...services]) {
    const found = configuration.find(name);
    if (found) return found;
  }
  return null;
}

function qualified(services: Services, service: string, address: string): string {
  return services.length === 1 || address.startsWith(`${service}.`) ? address : `${service}.${address}`;
}

/** Two services see one shared value: one that knows the name decides, and where both do, a mask wins. */
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
