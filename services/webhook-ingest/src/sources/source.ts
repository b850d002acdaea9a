import { isDeepStrictEqual } from "node:util";
import type { WebhookSourceResource } from "@signalbox/contracts";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { type SettingsPatch, type SourceSettings, viewSettings } from "./source-settings.ts";

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
  readonly settings: SourceSettings;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an owner may change. Settings are merged into those that are there. */
export type SourceChange = {
  readonly [K in "name" | "eventTypes" | "status" | "forward"]?: Source[K] | undefined;
} & { readonly settings?: SettingsPatch | undefined };

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
    settings: viewSettings(source.settings),
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
  };
}

/** The names, as clients know them, of the fields in which the two differ. */
export function changedFields(before: Source, after: Source): string[] {
  const names = { name: "name", eventTypes: "event_types", status: "status", forward: "forward", settings: "settings" };
  return Object.entries(names).flatMap(([key, name]) =>
    isDeepStrictEqual(before[key as keyof Source], after[key as keyof Source]) ? [] : [name],
  );
}
