import { hours, KiB, MiB, type ServiceName, serviceNames } from "@signalbox/core";

/** A topic of the event log. `compact` keeps the newest record per key for ever and drops older ones. */
export interface TopicDeclaration {
  readonly name: string;
  readonly owner: ServiceName;
  readonly partitions: number;
  readonly cleanup: "delete" | "compact";
  /** Milliseconds; for a compacted topic, how long a deleted key stays readable as a tombstone. */
  readonly retentionMs: number;
  readonly maxMessageBytes: number;
  readonly description: string;
}

const days = (count: number): number => hours(24 * count);

/** Twice `events.message.max-bytes`: headers and batch framing must never push an accepted event over the limit. */
const maxMessageBytes = 4 * MiB;

/** Longer than a weekend with a broken consumer. */
const factRetentionMs = days(7);

/** More than one service needs today, since a later change of the count would move keys between partitions. */
const factPartitions = 12;

const declarations = [
  facts("signalbox.account.v1", "account", "Accounts, their settings and their API keys."),
  state(
    "signalbox.access.v1",
    "account",
    "The current access states: state and epoch of every account, key and client.",
  ),
  facts(
    "signalbox.audit.v1",
    "account",
    "Audited actions and refusals of every service, for the audit of the accounts.",
  ),
  facts("signalbox.image.v1", "images", "Image records."),
  facts("signalbox.image-render.v1", "images", "Jobs for the image worker."),
  facts("signalbox.image-rendered.v1", "image-worker", "Results of the image worker."),
  state("signalbox.config.v1", "config", "The overrides of properties and the flags, one record each."),
  {
    ...facts("signalbox.config-applied.v1", "config", "The configuration of each instance, as it reports it."),
    partitions: 1,
    cleanup: "compact",
    // An instance reports again on start and on change; the record of one that is gone may go too.
    retentionMs: days(1),
  },
  facts("signalbox.webhook-source.v1", "webhook-ingest", "The sources that partners send to."),
  facts("signalbox.webhook-received.v1", "webhook-ingest", "Webhooks accepted from partners, in order per source."),
  {
    ...facts("signalbox.webhook-rejection.v1", "webhook-ingest", "Webhooks refused from partners, for live observers."),
    // Past rejections are read from the list of rejections.
    retentionMs: hours(1),
  },
  facts("signalbox.webhook-delivery.v1", "webhook-delivery", "Endpoints, and the outcomes of their deliveries."),
  {
    ...facts(
      "signalbox.webhook-attempt.v1",
      "webhook-delivery",
      "Delivery attempts, and the counts of published events, for live observers.",
    ),
    // Past attempts and events are read from their lists.
    retentionMs: hours(1),
  },
] as const satisfies readonly TopicDeclaration[];

export type TopicName = (typeof declarations)[number]["name"];

/** A service's dead letters: messages that could not be read or handled, with the reason in their headers. */
export function deadLetterTopic(service: ServiceName): string {
  return `signalbox.${service}.dead-letters.v1`;
}

/** Every topic of the product, dead letters included. */
export const topics: readonly TopicDeclaration[] = [...declarations, ...serviceNames.map(deadLetters)];

/** Finds the declaration of a topic, or undefined for an unknown name. */
export function findTopic(name: string): TopicDeclaration | undefined {
  return topics.find((topic) => topic.name === name);
}

function facts<const N extends string>(name: N, owner: ServiceName, description: string) {
  return {
    name,
    owner,
    partitions: factPartitions,
    cleanup: "delete",
    retentionMs: factRetentionMs,
    maxMessageBytes,
    description,
  } as const;
}

/** One partition, so that a reader that reached the end offset has seen every key. */
function state<const N extends string>(name: N, owner: ServiceName, description: string) {
  return {
    name,
    owner,
    partitions: 1,
    cleanup: "compact",
    retentionMs: days(1),
    maxMessageBytes,
    description,
  } as const;
}

function deadLetters(service: ServiceName): TopicDeclaration {
  return {
    name: deadLetterTopic(service),
    owner: service,
    partitions: 1,
    cleanup: "delete",
    retentionMs: days(30),
    // The original message and the headers with the reason.
    maxMessageBytes: maxMessageBytes + 64 * KiB,
    description: `Messages the ${service} service gave up on.`,
  };
}
