import type { ServiceName } from "@signalbox/core";
import type { RuntimeProperties } from "@signalbox/runtime";
import {
  type Configuration,
  loadConfiguration,
  type PropertyDeclarations,
  type PropertyScalar,
} from "@signalbox/runtime";
import { backupProperties } from "../backup/backup-properties.ts";
import { withDefaults } from "./embedded-defaults.ts";
import { embeddedServices } from "./embedded-services.ts";
import { processProperties } from "./process-properties.ts";

/** Sources of the values, the same for every service of the process. */
export interface Sources {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly profile: string | undefined;
}

/** The names of all services and commands: none of them is refused by another one that does not know it. */
export function foreignNames(): Set<string> {
  const names = embeddedServices.flatMap(({ properties }) => Object.keys(properties));
  return new Set([...names, ...Object.keys(processProperties), ...Object.keys(backupProperties)]);
}

/** The configuration of one service, with the defaults of the embedded mode below every other source. */
export function loadServiceConfiguration(
  service: ServiceName,
  properties: PropertyDeclarations,
  defaults: Readonly<Record<string, PropertyScalar>>,
  sources: Sources,
): Configuration<RuntimeProperties> {
  const changed = { ...properties, "log.level": processProperties["log.level"] };
  return loadConfiguration({
    service,
    properties: withDefaults(changed, defaults),
    ...sources,
    foreignNames: foreignNames(),
  }) as unknown as Configuration<RuntimeProperties>;
}
