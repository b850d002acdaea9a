import { draft, type WebhookSourceResource } from "@signalbox/contracts";
import { type Patch, randomId } from "@signalbox/core";
import { type Ending, isLive } from "@signalbox/storage";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { type SettingsPatch, type SourceSettings, viewSourceSettings } from "./source-settings.ts";

/** A source: a partner that may post to `/ingest/{id}`. Its secret is stored apart, sealed, and never shown. */
export interface Source {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scheme: SchemeName;
  readonly eventTypes: readonly string[] | null;
  /** A paused source makes the partner try again; a stopped one answers success and keeps nothing. */
  readonly status: "active" | "paused" | "stopped";
  readonly forward: boolean;
  /** Differences of the sender from its scheme. */
  readonly settings: SourceSettings;
  /** Ends of the overlaps of former secrets that still verify, the latest first. */
  readonly formerSecretsEndAt: readonly Date[];
  /** Last segment of the path that the partner posts to; null while it is the id. */
  readonly address: string | null;
  /** Former addresses, the latest first, with the ends of their overlaps. */
  readonly formerAddresses: readonly string[];
  readonly formerAddressesEndAt: readonly Date[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Input of a new source. */
export type NewSource = Pick<Source, "name" | "scheme" | "eventTypes" | "forward" | "settings"> & {
  readonly secret: string;
  readonly verifyToken: string | null;
};

/** Fields that an owner may change. Settings are merged into the current ones. */
export type SourceChange = Patch<Pick<Source, "name" | "eventTypes" | "status" | "forward">> & {
  readonly settings?: SettingsPatch | undefined;
  readonly secret?: string | undefined;
  readonly verifyToken?: string | null | undefined;
};

/** Names of the changeable fields in the API. */
export const sourceFieldNames = {
  name: "name",
  eventTypes: "event_types",
  status: "status",
  forward: "forward",
  settings: "settings",
} as const;

/** Creates a new source in its first revision. */
export function sourceFrom(wanted: Omit<NewSource, "secret" | "verifyToken">, accountId: string, at: Date): Source {
  // Random, not sortable: the id stands in a public URL and should reveal nothing.
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

/** Returns true for the id of a source, false for an address that replaced one. */
export const isSourceId = (text: string): boolean => text.startsWith("src_");

/** Returns the last segment of the path that the partner posts to. */
export const addressOf = ({ id, address }: Pick<Source, "id" | "address">): string => address ?? id;

/** An address of a source: the last segment of a path that the partner may post to. */
interface SourceAddress extends Ending {
  readonly address: string;
}

/** Returns the addresses of a source with their ends, the present one first. */
export function addressesOf(source: Source): SourceAddress[] {
  const { formerAddresses, formerAddressesEndAt, updatedAt } = source;
  const former = formerAddresses.map((address, at) => ({ address, endsAt: formerAddressesEndAt[at] ?? updatedAt }));
  return [{ address: addressOf(source), endsAt: null }, ...former];
}

/** Returns true when webhooks to this address are accepted. */
export const isLiveAddress = (source: Source, address: string, nowMs: number): boolean =>
  addressesOf(source).some((one) => one.address === address && isLive(one, new Date(nowMs)));

/** Returns true when the source and its account accept webhooks now. A stopped source does, and drops them. */
export const isOpen = (source: Source, mayWrite: (accountId: string) => boolean): boolean =>
  source.status !== "paused" && mayWrite(source.accountId);

/** Returns the path that the partner posts to. */
export const ingestPathOf = (source: Pick<Source, "id" | "address">): string => `/ingest/${addressOf(source)}`;

/** Returns the source as its owner sees it, in the API and in every event. */
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
/** `changed` names the fields. It may name `secret`, but no value is shown. */
export const sourceUpdated = (source: Source, changed: string[]) => about("webhook_source.updated", source, changed);
export const sourceDeleted = (source: Source) => about("webhook_source.deleted", source, []);

type SourceEvent = "webhook_source.created" | "webhook_source.updated" | "webhook_source.deleted";

function about<N extends SourceEvent>(name: N, source: Source, changed: string[]) {
  const data = { ...viewSource(source), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: source.id, accountId: source.accountId, data });
}
