import { createHash } from "node:crypto";
import type { Configuration } from "@signalbox/config";
import { publishedProperties } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { strongEtag } from "@signalbox/http";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "./applied-reports.ts";
import { type ConfigResource, configResourceFrom } from "./config-resource.ts";
import { disagreements, type PublishedValues, strictest } from "./published-values.ts";

/** The current configuration resource, built once per change so that a request, and above all a 304, is cheap. */
interface Publication {
  readonly resource: ConfigResource;
  readonly etag: string;
  /** Names with different values among the instances: the strictest is shown. */
  readonly disagreements: readonly string[];
  /** Time of its last change. */
  readonly changedAt: Date;
}

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly reports: AppliedReports;
  readonly clock: Clock;
}

export type PublishedConfiguration = ReturnType<typeof createPublishedConfiguration>;

/** Keeps the published configuration current. */
export function createPublishedConfiguration({ configuration, reports, clock }: Dependencies) {
  let current = make(clock.now());
  let nextGoneAtMs = reports.nextGoneAtMs();
  /** Time of the first report that `current` does not contain. */
  let staleSince: Date | null = null;

  function make(changedAt: Date): Publication {
    const own = valuesOf(configuration);
    const others = reports.alive().map(({ report }) => report.published as PublishedValues);
    const resource = configResourceFrom(configuration.get("http.base-url"), strictest(own, others));
    const content = createHash("sha256").update(JSON.stringify(resource)).digest("hex");
    // The content is part of it besides the revision, because instances apply one revision at different times.
    const etag = strongEtag(`${configuration.revision ?? 0}.${content}`, "config");
    return { resource, etag, disagreements: disagreements(own, others), changedAt };
  }

  function refresh(changedAt: Date): void {
    const next = make(changedAt);
    current = next.etag === current.etag ? { ...next, changedAt: current.changedAt } : next;
    nextGoneAtMs = reports.nextGoneAtMs();
    staleSince = null;
  }

  // Evaluated at the next request: at a start the reports of all instances arrive together, and each evaluation reads
  // all of them.
  const markStale = () => {
    staleSince ??= clock.now();
  };
  reports.onChange(markStale);
  for (const name of Object.keys(publishedProperties))
    configuration.onChange(name as keyof Properties & string, markStale);
  return {
    current(): Publication {
      // No message announces a stopped instance: its report only grows old. A repeated report postpones that.
      if (staleSince !== null || clock.nowMs() > nextGoneAtMs) refresh(staleSince ?? clock.now());
      return current;
    },
  };
}

function valuesOf(configuration: Configuration<Properties>): PublishedValues {
  const names = Object.keys(publishedProperties) as (keyof typeof publishedProperties)[];
  return Object.fromEntries(names.map((name) => [name, configuration.get(name)]));
}
