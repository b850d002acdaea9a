import type { EventDraft } from "@signalbox/contracts";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import type { DeliveryStore } from "../deliveries/delivery-store.ts";
import { changedFields, type Endpoint, type EndpointChange, withChange } from "./endpoint.ts";
import { endpointDeleted, endpointEnabled, endpointUpdated } from "./endpoint-events.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly assertTarget: (url: string) => void;
  readonly rotationOverlapMs: () => number;
}

/** Which endpoint, and what has to hold before it is touched. */
export interface OwnEndpoint {
  readonly accountId: string;
  readonly id: string;
  /** Throws when the caller saw another state (`If-Match`). */
  readonly assertUnchanged: (endpoint: Endpoint) => void;
}

type Within = (tx: Tx, endpoint: Endpoint) => Promise<void>;

/** The writes on one endpoint. Each locks it, changes it with its event in one transaction, and answers null for "none". */
export function createChangeEndpoint(dependencies: Dependencies) {
  const { pool, endpoints, deliveries, outbox, clock, assertTarget, rotationOverlapMs } = dependencies;

  function write(own: OwnEndpoint, within: Within, work: (tx: Tx, endpoint: Endpoint) => Promise<Endpoint>) {
    return inTransaction(pool, async (tx): Promise<Endpoint | null> => {
      const endpoint = await endpoints.lock(tx, own.accountId, own.id);
      if (endpoint === null) return null;
      own.assertUnchanged(endpoint);
      const next = await work(tx, endpoint);
      await within(tx, next);
      return next;
    });
  }

  async function save(tx: Tx, endpoint: Endpoint, change: Partial<Endpoint>, event: (next: Endpoint) => EventDraft) {
    const next = { ...endpoint, ...change, revision: endpoint.revision + 1, updatedAt: clock.now() };
    await endpoints.update(tx, next);
    await outbox.append(tx, [event(next)]);
    return next;
  }

  return {
    /** Changes what the owner may write. A change that alters nothing emits nothing. */
    change: (own: OwnEndpoint, change: EndpointChange, within: Within) =>
      write(own, within, async (tx, endpoint) => {
        if (change.url !== undefined) assertTarget(change.url);
        const wanted = withChange(endpoint, change);
        const changed = changedFields(endpoint, wanted);
        if (changed.length === 0) return endpoint;
        return save(tx, wanted, {}, (next) => endpointUpdated(next, changed));
      }),

    /** Holds deliveries until `resume`. */
    pause: (own: OwnEndpoint, within: Within) =>
      write(own, within, async (tx, endpoint) => {
        if (endpoint.status === "paused") return endpoint;
        if (endpoint.status === "disabled") throw new AppError("conflict", "A disabled endpoint cannot be paused.");
        await deliveries.hold(tx, endpoint.id);
        return save(tx, endpoint, { status: "paused" }, (next) => endpointUpdated(next, ["status"]));
      }),

    /** Lets a paused endpoint go on, held deliveries first. */
    resume: (own: OwnEndpoint, within: Within) =>
      write(own, within, async (tx, endpoint) => {
        if (endpoint.status === "enabled") return endpoint;
        if (endpoint.status === "disabled")
          throw new AppError("conflict", "A disabled endpoint is enabled, not resumed.");
        await deliveries.release(tx, endpoint.id, clock.now());
        return save(tx, endpoint, { status: "enabled" }, (next) => endpointUpdated(next, ["status"]));
      }),

    /** Enables an endpoint that was disabled, held deliveries first. */
    enable: (own: OwnEndpoint, within: Within) =>
      write(own, within, async (tx, endpoint) => {
        if (endpoint.status === "enabled") return endpoint;
        await deliveries.release(tx, endpoint.id, clock.now());
        return save(tx, endpoint, { status: "enabled", disabledReason: null }, endpointEnabled);
      }),

    /** Gives the endpoint a new secret; the old one signs beside it until the overlap ends. */
    rotateSecret: async (own: OwnEndpoint, within: (tx: Tx, endpoint: Endpoint, secret: string) => Promise<void>) => {
      const secret = createEndpointSecret();
      const previousUntil = new Date(clock.nowMs() + rotationOverlapMs());
      const endpoint = await write(
        own,
        (tx, next) => within(tx, next, secret),
        async (tx, current) => {
          await endpoints.rotate(tx, current.id, secret, previousUntil);
          return save(tx, current, {}, (next) => endpointUpdated(next, ["secret"]));
        },
      );
      return endpoint === null ? null : { endpoint, secret };
    },

    /** Removes the endpoint with its deliveries. */
    remove: (own: OwnEndpoint, within: Within) =>
      write(own, within, async (tx, endpoint) => {
        await endpoints.delete(tx, endpoint.id);
        await outbox.append(tx, [endpointDeleted(endpoint)]);
        return endpoint;
      }),

    /** Removes every endpoint of a purged account, in the transaction of the consumer that heard of it. */
    removeAllOf: async (tx: Tx, accountId: string): Promise<void> => {
      const owned = await endpoints.lockAllOf(tx, accountId);
      for (const endpoint of owned) await endpoints.delete(tx, endpoint.id);
      if (owned.length > 0) await outbox.append(tx, owned.map(endpointDeleted));
    },
  };
}
