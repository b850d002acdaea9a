import type { Properties } from "@signalbox/config-service/properties";
import { type Audience, isVisibleTo, publishedProperties } from "@signalbox/contracts";
import { masked } from "@signalbox/core";
import type { Configuration } from "@signalbox/runtime";
import type { FlagContext, FlagSet } from "@signalbox/service";
import type { AppliedReports } from "../state/applied-reports.ts";
import type { PropertyCatalogue } from "../state/property-catalogue.ts";
import type { PublishedConfiguration } from "../state/published-configuration.ts";

export interface Revised {
  readonly revision: number;
  /** The bare names of properties. */
  readonly properties: readonly string[];
  readonly flags: readonly string[];
}

/** The members of the settings by their properties. */
const settingsMembers: Partial<Record<keyof Properties, string>> = {
  "server.name": "server.name",
  "server.support-url": "server.supportUrl",
  "server.logo-url": "server.logoUrl",
  "server.color": "server.color",
  "defaults.locale": "locale",
  "limits.maxPageSize": "limits.pageSize",
};

/**
 * Builds the events of a revision for an audience, in order. Only the last one has the id, so that a client
 * disconnected in between reads the revision again. A revision without visible changes only advances the id.
 */
export function framesOf(revised: Revised, audience: Audience, values: StreamValues, id: number): string[] {
  const seen = revised.properties.filter((name) => isVisibleTo(audience, values.audienceOf(name)));
  const change = (event: string, names: readonly (readonly [shown: string, property: string])[]) => {
    if (names.length === 0) return [];
    const shown = names.map(([name, property]) => [name, values.property(property)] as const);
    const data = {
      revision: String(revised.revision),
      names: shown.map(([name]) => name),
      values: Object.fromEntries(shown),
    };
    return [`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`];
  };
  const ofSettings = seen.flatMap((name) => {
    const member = name.startsWith("features.") ? name : settingsMembers[name as keyof Properties];
    return member === undefined ? [] : [[member, name] as const];
  });
  const ofConfig = seen.flatMap((name) => {
    const isShown = values.isPublished(name) || settingsMembers[name as keyof Properties] === undefined;
    return isShown ? [[name, name] as const] : [];
  });
  const events = [...change("config", ofConfig), ...change("settings", ofSettings)];
  return revised.flags.length > 0 ? events : withId(events, id);
}

/** Builds the events of changed flags for one account. OpenFeature providers read again on the unnamed one. */
export function flagFrames(
  { revision, flags }: Revised,
  set: FlagSet,
  context: FlagContext,
  nowMs: number,
  id: number,
): string[] {
  if (flags.length === 0) return [];
  const values = flags.map((key) => {
    const { json: value, variant, reason } = set.evaluate(key, context, nowMs);
    return [key, variant === null ? null : { value, variant, reason }] as const;
  });
  const data = { revision: String(revision), names: flags, values: Object.fromEntries(values) };
  const events = [`event: flags\ndata: ${JSON.stringify(data)}\n\n`, 'data: {"type":"refetchEvaluation"}\n\n'];
  return withId(events, id);
}

const withId = (events: readonly string[], id: number): string[] => [
  ...events.slice(0, -1),
  `id: ${id}\n${events.at(-1) ?? "\n"}`,
];

interface State {
  readonly configuration: Configuration<Properties>;
  readonly catalogue: PropertyCatalogue;
  readonly published: PublishedConfiguration;
  readonly reports: AppliedReports;
}

/** The current values of properties, as the stream sends them. */
export class StreamValues {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** Returns the property of an override's name; an undeclared name is returned unchanged. */
  propertyOf(name: string): string {
    try {
      return this.#state.catalogue.target(name).property;
    } catch {
      return name;
    }
  }

  audienceOf(name: string): Audience {
    return this.#state.catalogue.audienceOf(name);
  }

  /** Returns true for a property of `/api/v1/config/`. */
  isPublished(name: string): boolean {
    return Object.hasOwn(publishedProperties, name);
  }

  /** Returns the value of a property; null for one that is masked. */
  property(name: string): unknown {
    if (this.isPublished(name)) {
      const [member = "", key = ""] = name.split(".");
      const resource = this.#state.published.current().resource as unknown as Record<string, Record<string, unknown>>;
      return resource[member]?.[key];
    }
    const elsewhere = () =>
      this.#state.reports.alive().find(({ report }) => report.values?.[name])?.report.values?.[name];
    const value = (this.#state.configuration.runningValues()[name] ?? elsewhere())?.value ?? null;
    return value === masked ? null : value;
  }

  /**
   * Settles once the instances agree on these properties, or after a time limit. While a change rolls out the strictest
   * value is published, and one event should announce the final one.
   */
  settled(names: readonly string[], waitMs: number): Promise<void> {
    const agree = () => !this.#state.published.current().disagreements.some((name) => names.includes(name));
    return this.#state.reports.until(agree, waitMs);
  }
}
