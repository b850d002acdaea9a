import type { WebhookSourceResource } from "@signalbox/contracts";
import type { HmacOptions, SchemeName } from "@signalbox/webhook-signatures";

/** A partner that may post to `/ingest/{id}`. The secret is apart: it is sealed in the store and shown to nobody. */
export interface Source {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scheme: SchemeName;
  readonly eventTypes: readonly string[] | null;
  readonly status: "enabled" | "paused";
  readonly forward: boolean;
  /** What the `hmac` scheme is told about its sender; empty for the others. */
  readonly settings: Partial<HmacOptions>;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an owner may change. */
export type SourceChange = {
  readonly [K in "name" | "eventTypes" | "status" | "forward" | "settings"]?: Source[K] | undefined;
};

/** Where the partner posts to. */
export const ingestPathOf = (id: string): string => `/ingest/${id}`;

/** The source as its owner sees it, on every edge and in every event. */
export function viewSource(source: Source): WebhookSourceResource {
  return {
    id: source.id,
    name: source.name,
    scheme: source.scheme,
    event_types: source.eventTypes === null ? null : [...source.eventTypes],
    status: source.status,
    forward: source.forward,
    ingest_path: ingestPathOf(source.id),
    settings: { ...source.settings },
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
  };
}

/** The names, as clients know them, of the fields that `change` would really alter. */
export function changedFields(source: Source, change: SourceChange): string[] {
  const names = { name: "name", eventTypes: "event_types", status: "status", forward: "forward", settings: "settings" };
  return Object.entries(names).flatMap(([key, name]) => {
    const next = change[key as keyof SourceChange];
    const same = JSON.stringify(next) === JSON.stringify(source[key as keyof Source]);
    return next === undefined || same ? [] : [name];
  });
}
