import { receivedAlias } from "@signalbox/contracts";
import { type Clock, minutes, newId, seconds } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import { wants } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { DeliveryStore, NewDelivery } from "./delivery-store.ts";

interface DeliveryDependencies {
  readonly endpointStore: EndpointStore;
  readonly deliveryStore: DeliveryStore;
  readonly clock: Clock;
  /** Tells whether the account may act now; the deliveries of one that may not are held. */
  readonly mayWrite: (accountId: string) => boolean;
  /** Tells the worker of this instance that something is due. */
  readonly wake: () => void;
}

/** How long after it was held for its account a delivery is looked at again, should the word of the release be missed. */
export const recheckAfterMs = minutes(5);

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Deliveries of events to endpoints: scheduled, and released when their account may act again. */
export function createDeliveries({ endpointStore, deliveryStore, clock, mayWrite, wake }: DeliveryDependencies) {
  async function releaseOf(accountId: string): Promise<void> {
    if (!mayWrite(accountId)) {
      return deliveryStore.postponeRecheck(accountId, new Date(clock.nowMs() + recheckAfterMs));
    }
    if ((await deliveryStore.releaseAccount(accountId, clock.now())) > 0) wake();
  }

  return {
    /**
     * Schedules one delivery for each endpoint of the account that wants the event. Seeing the event again adds none: the
     * consumer's inbox and the unique key of (endpoint, event) both say so.
     */
    async schedule(tx: Tx, event: ReceivedEvent): Promise<void> {
      const { id, accountId, name, time, traceparent = null } = event;
      if (accountId === null || !isForwarded(event)) return;
      const names = namesOf(event);
      const subscribers = await endpointStore.lockSubscribers(tx, accountId, time);
      const wanting = subscribers.filter((endpoint) => wants(endpoint, names) && !isAbout(event, endpoint.id));
      if (wanting.length === 0) return;
      const isHeld = !mayWrite(accountId);
      const scheduled = wanting.map(
        ({ id: endpointId, status, settings }): NewDelivery => ({
          id: newId("whd", clock.nowMs()),
          endpointId,
          status: isHeld || status !== "enabled" ? "held" : "pending",
          nextAttemptAt: status === "enabled" ? firstAttemptAt(clock.nowMs(), settings.retry_schedule_seconds) : null,
        }),
      );
      const stored = { id, accountId, type: name, body: bodyOf(event), traceparent, createdAt: time };
      await deliveryStore.insert(tx, stored, scheduled, clock.now());
      tx.afterCommit(wake);
    },

    /** Releases what was held for an account, if it may act again. */
    releaseOf,

    /**
     * Looks again at what is held, account by account: the word of a release can cross with a delivery that is just being
     * held, on this instance or another.
     */
    async recheckHeld(): Promise<void> {
      for (const accountId of await deliveryStore.accountsToRecheck(clock.now())) await releaseOf(accountId);
    },
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

/** A source can keep what it receives from the account's endpoints. */
const isForwarded = ({ extensions }: ReceivedEvent): boolean => extensions?.forward !== "false";

/** An endpoint never hears about itself: a failing one would feed its own failure. */
function isAbout({ name, data }: ReceivedEvent, endpointId: string): boolean {
  if (name.startsWith("webhook_endpoint.")) return (data as { id: string }).id === endpointId;
  if (name.startsWith("webhook_delivery.")) return (data as { endpoint_id: string }).endpoint_id === endpointId;
  return false;
}
