import { createHash } from "node:crypto";
import type { Configuration } from "@signalbox/config";
import { publishedProperties } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "./applied-reports.ts";
import { type ConfigResource, configResourceFrom } from "./config-resource.ts";
import { disagreements, type PublishedValues, strictest } from "./published-values.ts";

/** The configuration resource as it stands, made once per change so that a request, and above all a 304, costs nothing. */
export interface PublishedConfiguration {
  readonly resource: ConfigResource;
  readonly etag: string;
  /** Names on whose value the instances disagree: the strictest is shown. */
  readonly disagreements: readonly string[];
  /** When it last changed. */
  readonly changedAt: Date;
}

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly reports: AppliedReports;
  readonly now: () => Date;
}

/** Keeps the published configuration current; `onChange` listeners hear of every new one. */
export function createPublishedConfiguration({ configuration, reports, now }: Dependencies) {
  const listeners: (() => void)[] = [];
  let current = make(now());

  function make(changedAt: Date): PublishedConfiguration {
    const own = valuesOf(configuration);
    const others = reports.alive().map(({ report }) => report.published as PublishedValues);
    const resource = configResourceFrom(configuration.get("http.base-url"), strictest(own, others));
    const content = createHash("sha256").update(JSON.stringify(resource)).digest("hex");
    // The content stands beside the revision, because instances apply one revision at different moments.
    const etag = strongEtag(`${configuration.revision ?? 0}.${content}`, "config");
    return { resource, etag, disagreements: disagreements(own, others), changedAt };
  }

  function refresh(): void {
    const next = make(now());
    if (next.etag === current.etag) return;
    current = next;
    for (const listener of listeners) listener();
  }

  reports.onChange(refresh);
  for (const name of Object.keys(publishedProperties))
    configuration.onChange(name as keyof Properties & string, refresh);
  return {
    get: (): PublishedConfiguration => current,
    /** Looks again; for the timer that notices instances that have gone. */
    refresh,
    onChange: (listener: () => void) => void listeners.push(listener),
  };
}

export type PublishedConfigurationSource = ReturnType<typeof createPublishedConfiguration>;

function valuesOf(configuration: Configuration<Properties>): PublishedValues {
  const names = Object.keys(publishedProperties) as (keyof typeof publishedProperties)[];
  return Object.fromEntries(names.map((name) => [name, configuration.get(name)]));
}
