import { receivedAlias } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";
import type { NewEvent } from "../queue/insert-deliveries.ts";

/** An event on its way to whoever subscribed to it. */
export interface OutgoingEvent extends NewEvent {
  /** An accepted webhook goes by two names, so that a filter can pick what one partner calls it. */
  readonly names: readonly string[];
  /** The version of its shape. Where a type has two, both are published. */
  readonly version: number;
  /** What it is about: the key of ordered endpoints. Null for an event that has no order. */
  readonly subject: string | null;
  /** What filters look into. */
  readonly data: unknown;
  /** An endpoint never hears about itself: a failing one would feed its own failure. */
  readonly aboutEndpoint: string | null;
}

/** The event as subscribers get it; null for one that nobody can subscribe to. */
export function outgoingEventOf(event: ReceivedEvent): OutgoingEvent | null {
  const { id, accountId, name, time, traceparent = null } = event;
  if (accountId === null || !isForwarded(event)) return null;
  return {
    ...{ id, accountId, type: name, body: bodyOf(event, accountId), traceparent, createdAt: time },
    names: namesOf(event),
    version: event.version,
    subject: event.subject,
    data: event.data,
    aboutEndpoint: endpointOf(event),
  };
}

/** The body of every attempt, made once: signatures are over these bytes. The data go in as they were written. */
function bodyOf({ id, name, time, dataJson, version }: ReceivedEvent, accountId: string): Buffer {
  const before = JSON.stringify({ id, type: name, created_at: time.toISOString() });
  const after = JSON.stringify({ api_version: `v${version}`, account_id: accountId });
  return Buffer.concat([Buffer.from(`${before.slice(0, -1)},"data":`), dataJson, Buffer.from(`,${after.slice(1)}`)]);
}

function namesOf(event: ReceivedEvent): string[] {
  if (event.name !== "webhook.received") return [event.name];
  const { scheme, event_type } = (event as ReceivedEvent<"webhook.received">).data;
  return event_type === null ? [event.name] : [event.name, receivedAlias(scheme, event_type)];
}

/** A source can keep what it receives from the account's endpoints. */
const isForwarded = ({ extensions }: ReceivedEvent): boolean => extensions?.forward !== "false";

function endpointOf({ name, data }: ReceivedEvent): string | null {
  if (name.startsWith("webhook_endpoint.")) return (data as { id: string }).id;
  if (name.startsWith("webhook_delivery.")) return (data as { endpoint_id: string }).endpoint_id;
  return null;
}
