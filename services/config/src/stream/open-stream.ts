import type { AccessStates, PrincipalSource } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { publishedProperties } from "@signalbox/contracts";
import { masked, seconds } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import type { Flags } from "@signalbox/service";
import type { FlagStore } from "../flags/flag-store.ts";
import type { OverrideStore } from "../overrides/override-store.ts";
import type { PropertyCatalogue } from "../overrides/property-catalogue.ts";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "../published/applied-reports.ts";
import type { PublishedConfiguration } from "../published/published-configuration.ts";
import { ConfigStream } from "./config-stream.ts";
import { revisionsSince } from "./replay.ts";
import type { StreamValues } from "./stream-events.ts";

interface Dependencies {
  readonly context: ServiceContext<Properties>;
  readonly flags: Flags;
  readonly accessStates: AccessStates;
  readonly principals: PrincipalSource;
  readonly catalogue: PropertyCatalogue;
  readonly published: PublishedConfiguration;
  readonly reports: AppliedReports;
  readonly stores: { readonly overrideStore: OverrideStore; readonly flagStore: FlagStore };
}

/** Time in which instances should apply a revision before clients are notified of the result. */
const settleMs = seconds(2);

/** Opens the stream on the values that this service publishes. */
export function openConfigStream(dependencies: Dependencies): ConfigStream {
  const { context, flags, accessStates, principals, stores, published, reports } = dependencies;
  const { configuration, clock } = context;
  const stream = new ConfigStream({
    context,
    flags,
    accessStates,
    principals,
    values: streamValues(dependencies),
    // While a change rolls out the strictest value is published, and one event should announce the final one.
    settled: (names) =>
      reports.until(() => !published.current().disagreements.some((name) => names.includes(name)), settleMs),
    revisionsSince: (last, upTo) => revisionsSince(last, upTo, { ...stores, clock }),
    limits: {
      all: configuration.get("config.streams.max"),
      perCredential: configuration.get("config.streams.max-per-credential"),
    },
  });
  configuration.onChange("capabilities.configStream", (isOn) => {
    if (!isOn) stream.end("switched_off");
  });
  return stream;
}

function streamValues({ context, catalogue, published, reports }: Dependencies): StreamValues {
  const { configuration }: { configuration: Configuration<Properties> } = context;
  const isPublished = (name: string) => Object.hasOwn(publishedProperties, name);
  return {
    propertyOf: (name) => propertyOf(name, catalogue),
    isPublished,
    audienceOf: catalogue.audienceOf,
    property(name) {
      if (isPublished(name)) {
        const [member = "", key = ""] = name.split(".");
        const resource = published.current().resource as unknown as Record<string, Record<string, unknown>>;
        return resource[member]?.[key];
      }
      const elsewhere = () => reports.alive().find(({ report }) => report.values?.[name])?.report.values?.[name];
      const value = (configuration.runningValues()[name] ?? elsewhere())?.value ?? null;
      return value === masked ? null : value;
    },
  };
}

/** Returns the property of a name; an undeclared name is returned unchanged. */
function propertyOf(name: string, catalogue: PropertyCatalogue): string {
  try {
    return catalogue.target(name).property;
  } catch {
    return name;
  }
}
