import { type AccountState, mayAccess, receivedAlias } from "@signalbox/contracts";
import { type Clock, newId, seconds } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import { wants } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { DeliveryStore, NewDelivery } from "./delivery-store.ts";

interface Dependencies {
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly stateOf: (accountId: string) => AccountState;
  /** Tells the worker of this instance that something is due. */
  readonly wake: () => void;
}

/**
 * Makes one delivery for each endpoint of the account that wants the event. Seeing the event again makes none: the
 * consumer's inbox and the unique key of (endpoint, event) both say so.
 */
export function createScheduleDeliveries({ endpoints, deliveries, clock, stateOf, wake }: Dependencies) {
  return async function scheduleDeliveries(tx: Tx, event: ReceivedEvent): Promise<void> {
    const { accountId } = event;
    if (accountId === null || !isForwarded(event)) return;
    const names = namesOf(event);
    const wanting = (await endpoints.subscribers(tx, accountId, event.time)).filter(
      (endpoint) => wants(endpoint, names) && !isAbout(event, endpoint.id),
    );
    if (wanting.length === 0) return;
    const isHeld = !mayAccess(stateOf(accountId), "write");
    const made = wanting.map(
      ({ id, status, settings }): NewDelivery => ({
        id: newId("whd", clock.nowMs()),
        endpointId: id,
        status: isHeld || status !== "enabled" ? "held" : "pending",
        nextAttemptAt: status === "enabled" ? firstAttemptAt(clock.nowMs(), settings.retry_schedule_seconds) : null,
      }),
    );
    const { id, name, time, traceparent = null } = event;
    const stored = { id, accountId, type: name, body: bodyOf(event), traceparent, createdAt: time };
    await deliveries.insert(tx, stored, made, clock.now());
    tx.afterCommit(wake);
  };
}

const firstAttemptAt = (nowMs: number, schedule: readonly number[] | null): Date =>
  new Date(nowMs + seconds(schedule?.[0] ?? 0));

/** The body of every attempt, made once: signatures are over these bytes. */
function bodyOf({ id, name, time, data, version, accountId }: ReceivedEvent): Buffer {
  const envelope = {
    id,
    type: name,
    created_at: time.toISOString(),
    data,
    api_version: `v${version}`,
    account_id: accountId,
  };
  return Buffer.from(JSON.stringify(envelope));
}

/** An accepted webhook goes by two names, so that a filter can pick what one partner calls it. */
function namesOf(event: ReceivedEvent): string[] {
  if (event.name !== "webhook.received") return [event.name];
  const { scheme, event_type } = (event as ReceivedEvent<"webhook.received">).data;
  return event_type === null ? [event.name] : [event.name, receivedAlias(scheme, event_type)];
}

function isForwarded(event: ReceivedEvent): boolean {
  return event.name !== "webhook.received" || (event as ReceivedEvent<"webhook.received">).data.forward;
}

/** An endpoint never hears about itself: a failing one would feed its own failure. */
function isAbout({ name, data }: ReceivedEvent, endpointId: string): boolean {
  if (name.startsWith("webhook_endpoint.")) return (data as { id: string }).id === endpointId;
  if (name.startsWith("webhook_delivery.")) return (data as { endpoint_id: string }).endpoint_id === endpointId;
  return false;
}
