import { draft, type WebhookSourceResource } from "@signalbox/contracts";
import { type Patch, randomId } from "@signalbox/core";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { type SettingsPatch, type SourceSettings, viewSourceSettings } from "./source-settings.ts";

/** A partner that may post to `/ingest/{id}`. The secret is apart: it is sealed in the store and shown to nobody. */
export interface Source {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scheme: SchemeName;
  readonly eventTypes: readonly string[] | null;
  /** Paused, the partner is told to come again; stopped, it is told that all is well and nothing is kept. */
  readonly status: "active" | "paused" | "stopped";
  readonly forward: boolean;
  /** How its sender differs from the scheme. */
  readonly settings: SourceSettings;
  /** When each secret ends that was rotated out and still verifies, the last one first. */
  readonly formerSecretsEndAt: readonly Date[];
  /** The last part of the path that the partner posts to; null while it is the id. */
  readonly address: string | null;
  /** Addresses that were rotated out, the last one first, with the moments until which each is taken. */
  readonly formerAddresses: readonly string[];
  readonly formerAddressesEndAt: readonly Date[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an owner gives to create a source. */
export type NewSource = Pick<Source, "name" | "scheme" | "eventTypes" | "forward" | "settings"> & {
  readonly secret: string;
  readonly verifyToken: string | null;
};

/** What an owner may change. Settings are merged into those that are there. */
export type SourceChange = Patch<Pick<Source, "name" | "eventTypes" | "status" | "forward">> & {
  readonly settings?: SettingsPatch | undefined;
  readonly secret?: string | undefined;
  readonly verifyToken?: string | null | undefined;
};

/** The fields that a change may have, as clients know them. */
export const sourceFieldNames = {
  name: "name",
  eventTypes: "event_types",
  status: "status",
  forward: "forward",
  settings: "settings",
} as const;

/** The source as it begins. */
export function sourceFrom(wanted: Omit<NewSource, "secret" | "verifyToken">, accountId: string, at: Date): Source {
  // Random, not sortable: the id stands in a public URL and should tell nothing.
  const id = randomId("src");
  return {
    ...wanted,
    id,
    accountId,
    status: "active",
    formerSecretsEndAt: [],
    address: null,
    formerAddresses: [],
    formerAddressesEndAt: [],
    revision: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** Tells the ids of sources from addresses that took their place, which begin with another word. */
export const isSourceId = (text: string): boolean => text.startsWith("src_");

/** The last part of the path that the partner posts to. */
export const addressOf = ({ id, address }: Pick<Source, "id" | "address">): string => address ?? id;

/** Tells if webhooks that come to an address are taken. */
export function isLiveAddress(source: Source, address: string, nowMs: number): boolean {
  if (address === addressOf(source)) return true;
  const endsAt = source.formerAddressesEndAt[source.formerAddresses.indexOf(address)];
  return endsAt !== undefined && endsAt.getTime() > nowMs;
}

/** Where the partner posts to. */
export const ingestPathOf = (source: Pick<Source, "id" | "address">): string => `/ingest/${addressOf(source)}`;

/** The source as its owner sees it, on every edge and in every event. */
export function viewSource(source: Source): WebhookSourceResource {
  return {
    id: source.id,
    name: source.name,
    scheme: source.scheme,
    event_types: source.eventTypes === null ? null : [...source.eventTypes],
    status: source.status,
    forward: source.forward,
    ingest_path: ingestPathOf(source),
    former_ingest_paths: source.formerAddresses.map((address, index) => ({
      ingest_path: `/ingest/${address}`,
      ends_at: (source.formerAddressesEndAt[index] ?? source.updatedAt).toISOString(),
    })),
    settings: viewSourceSettings(source.settings),
    overlaps_end_at: source.formerSecretsEndAt.map((at) => at.toISOString()),
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
  };
}

export const sourceCreated = (source: Source) => about("webhook_source.created", source, []);
/** `changed` names the fields, `secret` among them but never its value. */
export const sourceUpdated = (source: Source, changed: string[]) => about("webhook_source.updated", source, changed);
export const sourceDeleted = (source: Source) => about("webhook_source.deleted", source, []);

type SourceEvent = "webhook_source.created" | "webhook_source.updated" | "webhook_source.deleted";

function about<N extends SourceEvent>(name: N, source: Source, changed: string[]) {
  const data = { ...viewSource(source), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: source.id, accountId: source.accountId, data });
}
