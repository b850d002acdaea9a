import type { Properties } from "@signalbox/config-service/properties";
import { type Audience, isVisibleTo } from "@signalbox/contracts";
import type { FlagContext, FlagSet } from "@signalbox/service";
import type { StreamValues } from "./stream-values.ts";

/** The changes of one revision. */
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
  const ofConfig = seen.filter(
    (name) => values.isPublished(name) || settingsMembers[name as keyof Properties] === undefined,
  );
  const events = [
    ...change(
      "config",
      ofConfig.map((name) => [name, name] as const),
    ),
    ...change("settings", ofSettings),
  ];
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
    const { value, variant, reason } = set.evaluate(key, context, nowMs);
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
