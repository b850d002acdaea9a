import { draft, matchesEventType, viewOf, WebhookSourceResource } from "@signalbox/contracts";
import { newId, type Patch, randomId } from "@signalbox/core";
import { isLive, type RotatingValue, viewValue } from "@signalbox/storage";
import { type SchemeName, schemeOf } from "@signalbox/webhook-signatures";
import type { SenderKey } from "./sender-key.ts";
import { type SettingsPatch, type SourceSettings, viewSourceSettings } from "./source-settings.ts";

/** The refusal of an id that is no source of the caller. */
export const missingSource = "There is no such source.";

/** What an owner says of a source. */
export interface SourceTerms {
  readonly name: string;
  readonly scheme: SchemeName;
  /** The preset that it follows, and the version that it has now; null without a preset. */
  readonly preset: string | null;
  readonly presetVersion: string | null;
  readonly eventTypes: readonly string[] | null;
  readonly forward: boolean;
  /** Differences of the sender from its scheme. */
  readonly settings: SourceSettings;
}

/** A source: a partner that may post to `/ingest/{id}`. Its secret is stored apart, sealed, and never shown. */
export interface Source extends SourceTerms {
  readonly id: string;
  readonly accountId: string;
  /** A paused source makes the partner try again; a stopped one answers success and keeps nothing. */
  readonly status: "active" | "paused" | "stopped";
  /** The secrets that verify now, newest first, without their texts. */
  readonly secrets: readonly RotatingValue[];
  /** True when the current secret is shorter than others must be; null for a source of a version that did not say. */
  readonly isSecretShort: boolean | null;
  /** The addresses that are accepted now, newest first. */
  readonly addresses: readonly SourceAddress[];
  readonly senderKey: SenderKey | null;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An address of a source: the last segment of a path that the partner may post to. The first is the id of the source. */
export interface SourceAddress extends RotatingValue {
  readonly address: string;
}

export interface NewSource extends SourceTerms {
  readonly secret: string;
  readonly verifyToken: string | null;
}

/** Fields that an owner may change. Settings are merged into the current ones. */
export interface SourceChange extends Patch<Omit<NewSource, "scheme" | "preset" | "presetVersion" | "settings">> {
  readonly status?: Source["status"] | undefined;
  readonly settings?: SettingsPatch | undefined;
}

/** Names of the changeable fields in the API. */
export const sourceFieldNames = {
  name: "name",
  eventTypes: "event_types",
  status: "status",
  forward: "forward",
  settings: "settings",
} as const;

export function sourceFrom({ secret, verifyToken: _, ...wanted }: NewSource, accountId: string, at: Date): Source {
  // Random, not sortable: the id stands in a public URL and should reveal nothing.
  const id = randomId("src");
  return {
    ...wanted,
    id,
    accountId,
    status: "active",
    secrets: [newSecret(at)],
    isSecretShort: isShort(wanted, secret),
    addresses: [newAddress(id, at)],
    senderKey: null,
    revision: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** Returns true for a secret that is usable by a source that accepts short ones, and by no other. */
export const isShort = ({ scheme, settings }: SourceTerms, secret: string): boolean =>
  settings.acceptShortSecret === true && schemeOf(scheme, settings).secretProblem(secret) !== null;

/** Returns true for the id of a source, false for an address that replaced one. */
export const isSourceId = (text: string): boolean => text.startsWith("src_");

const newValue = (prefix: "srk" | "sra", at: Date) => ({
  id: newId(prefix, at.getTime()),
  createdAt: at,
  endsAt: null,
});

export const newSecret = (at: Date): RotatingValue => newValue("srk", at);

export const newAddress = (address: string, at: Date): SourceAddress => ({ ...newValue("sra", at), address });

/** Returns the last segment of the path that the partner posts to. */
export const addressOf = ({ id, addresses }: Source): string => addresses[0]?.address ?? id;

export const isLiveAddress = ({ addresses }: Source, address: string, nowMs: number): boolean =>
  addresses.some((one) => one.address === address && isLive(one, new Date(nowMs)));

/** Returns the path that the partner posts to. */
export const ingestPathOf = (source: Source): string => pathTo(addressOf(source));

export const pathTo = (address: string): string => `/ingest/${address}`;

/** Returns the ends of former values, the latest first. */
export const formerEnds = (values: readonly RotatingValue[]): Date[] => values.flatMap(({ endsAt }) => endsAt ?? []);

export const revised = (source: Source, values: Partial<Source>, at: Date): Source => ({
  ...source,
  ...values,
  revision: source.revision + 1,
  updatedAt: at,
});

const viewSenderKey = viewOf(WebhookSourceResource.shape.sender_key.unwrap().unwrap(), (_: SenderKey) => ({}));

/** Returns the source as its owner sees it, in the API and in every event. */
export const viewSource = viewOf(WebhookSourceResource, (source: Source) => {
  const addresses = source.addresses.map((one) => ({ ...viewValue(one), ingest_path: pathTo(one.address) }));
  return {
    ingest_path: ingestPathOf(source),
    former_ingest_paths: addresses.flatMap(({ ingest_path, ends_at }) => (ends_at ? { ingest_path, ends_at } : [])),
    addresses,
    settings: viewSourceSettings(source.settings),
    overlaps_end_at: formerEnds(source.secrets).map((at) => at.toISOString()),
    secrets: source.secrets.map(viewValue),
    sender_key: source.senderKey && viewSenderKey(source.senderKey),
  };
});

export const sourceCreated = (source: Source) => about("webhook_source.created", source, []);
/** `changed` names the fields. It may name `secret`, but no value is shown. */
export const sourceUpdated = (source: Source, changed: string[]) => about("webhook_source.updated", source, changed);
export const sourceDeleted = (source: Source) => about("webhook_source.deleted", source, []);

type SourceEvent = "webhook_source.created" | "webhook_source.updated" | "webhook_source.deleted";

function about<N extends SourceEvent>(name: N, source: Source, changed: string[]) {
  const data = { ...viewSource(source), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: source.id, accountId: source.accountId, data });
}

export function acceptsType({ eventTypes }: Source, type: string | null): boolean {
  return eventTypes === null || (type !== null && eventTypes.some((filter) => matchesEventType(filter, type)));
}
