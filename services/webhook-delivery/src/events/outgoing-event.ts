import { receivedAlias } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";
import type { BinaryColumn } from "@signalbox/storage";

export interface NewEvent {
  readonly id: string;
  readonly accountId: string;
  readonly type: string;
  /** Exact bytes that every delivery posts. */
  readonly body: Buffer;
  readonly traceparent: string | null;
  readonly createdAt: Date;
  /** Account that the event is about, on a copy for operators. */
  readonly aboutAccountId?: string;
  /** The image or the received webhook that the event is about. */
  readonly aboutId?: string | null;
}

export interface OutgoingEvent extends NewEvent {
  /** An accepted webhook has two names, so that a filter can use the partner's name for it. */
  readonly names: readonly string[];
  /** Version of the data's schema. A type with two versions is published in both. */
  readonly version: number;
  /** Subject of the event: the key of ordered endpoints. Null for an event without order. */
  readonly subject: string | null;
  readonly data: unknown;
  /** Endpoint that the event is about. It never gets the event, or a failing one would feed its own failure. */
  readonly aboutEndpoint: string | null;
}

/** Returns the event as subscribers get it; null for an event that cannot be subscribed to. */
export function outgoingEventOf(event: ReceivedEvent): OutgoingEvent | null {
  const { id, accountId, name, time, traceparent = null } = event;
  if (accountId === null || !isForwarded(event)) return null;
  return {
    id,
    accountId,
    type: name,
    body: bodyOf(event, accountId),
    traceparent,
    createdAt: time,
    names: namesOfEvent(name, event.data),
    version: event.version,
    subject: event.subject,
    data: event.data,
    aboutEndpoint: endpointOf(event),
    aboutId: thingOf(event),
  };
}

/** Builds the body of every attempt once, because signatures cover these bytes. The data stay as written. */
export function envelopeOf(before: object, dataJson: Buffer, after: object): Buffer {
  const [first, last] = [JSON.stringify(before).slice(0, -1), JSON.stringify(after).slice(1)];
  return Buffer.concat([Buffer.from(`${first},"data":`), dataJson, Buffer.from(`,${last}`)]);
}

const bodyOf = ({ id, name, time, dataJson, version }: ReceivedEvent, accountId: string): Buffer =>
  envelopeOf({ id, type: name, created_at: time.toISOString() }, dataJson, {
    api_version: `v${version}`,
    account_id: accountId,
  });

/** Returns the names by which an endpoint can subscribe to an event of the service, or to one of its account. */
export function namesOfEvent(type: string, data: unknown): string[] {
  if (type !== "webhook.received") return [type];
  const { scheme, event_type } = data as ReceivedEvent<"webhook.received">["data"];
  return event_type === null ? [type] : [type, receivedAlias(scheme, event_type)];
}

/** Returns false when the source does not forward its webhooks to the account's endpoints. */
const isForwarded = ({ extensions }: ReceivedEvent): boolean => extensions?.forward !== "false";

/** Returns the id by which the story of an event goes on: that of an image or of a received webhook. */
function thingOf({ name, subject, data }: ReceivedEvent): string | null {
  if (name.startsWith("image.")) return subject;
  return name === "webhook.received" ? ((data as { received_id?: string }).received_id ?? null) : null;
}

function endpointOf({ name, data }: ReceivedEvent): string | null {
  if (name.startsWith("webhook_endpoint.")) return (data as { id: string }).id;
  if (name.startsWith("webhook_delivery.")) return (data as { endpoint_id: string }).endpoint_id;
  return null;
}

export interface PublishedId {
  readonly accountId: string;
  readonly id: string;
  readonly digest: Buffer;
  readonly at: Date;
}

export const publishedKey = ({ accountId, id }: PublishedId | OutgoingEvent): string => `${accountId} ${id}`;

export const keyColumns: readonly BinaryColumn<PublishedId>[] = [
  ["text", ({ accountId }) => accountId],
  ["text", ({ id }) => id],
];
export const noteColumns: readonly BinaryColumn<PublishedId>[] = [
  ...keyColumns,
  ["bytea", ({ digest }) => digest],
  ["timestamptz", ({ at }) => at],
];
