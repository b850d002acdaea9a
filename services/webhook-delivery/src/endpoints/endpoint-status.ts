import type { EventDraft } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { DeliveryStore } from "../deliveries/delivery-store.ts";
import { type Endpoint, endpointDisabled, endpointEnabled, endpointUpdated } from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface StatusDependencies {
  readonly endpointStore: EndpointStore;
  readonly deliveryStore: DeliveryStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Tells the worker of this instance that something is due. */
  readonly wake: () => void;
}

/** `disabled`: the owner has to enable the endpoint first. */
export type StatusOutcome =
  | { readonly outcome: "changed"; readonly endpoint: Endpoint }
  | { readonly outcome: "disabled" };

export type EndpointStatus = ReturnType<typeof createEndpointStatus>;

/** The status of an endpoint, and what becomes of its deliveries: they wait unless it is enabled. */
export function createEndpointStatus({ endpointStore, deliveryStore, outbox, clock, wake }: StatusDependencies) {
  type Change = Pick<Endpoint, "status"> & Partial<Pick<Endpoint, "disabledReason">>;

  async function save(tx: Tx, endpoint: Endpoint, change: Change, event: (changed: Endpoint) => EventDraft) {
    const changed = { ...endpoint, ...change, revision: endpoint.revision + 1, updatedAt: clock.now() };
    await endpointStore.save(tx, changed);
    if (changed.status === "enabled") {
      await deliveryStore.release(tx, endpoint.id, clock.now());
      tx.afterCommit(wake);
    } else {
      await deliveryStore.hold(tx, endpoint.id);
    }
    await outbox.append(tx, [event(changed)]);
    return { outcome: "changed", endpoint: changed } as const;
  }

  return {
    /** Holds deliveries until the endpoint is resumed. */
    async pause(tx: Tx, endpoint: Endpoint): Promise<StatusOutcome> {
      if (endpoint.status === "paused") return { outcome: "changed", endpoint };
      if (endpoint.status === "disabled") return { outcome: "disabled" };
      return save(tx, endpoint, { status: "paused" }, (paused) => endpointUpdated(paused, ["status"]));
    },

    /** Lets a paused endpoint go on, held deliveries first. */
    async resume(tx: Tx, endpoint: Endpoint): Promise<StatusOutcome> {
      if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
      if (endpoint.status === "disabled") return { outcome: "disabled" };
      return save(tx, endpoint, { status: "enabled" }, (resumed) => endpointUpdated(resumed, ["status"]));
    },

    /** Enables a disabled endpoint, held deliveries first. */
    async enable(tx: Tx, endpoint: Endpoint): Promise<StatusOutcome> {
      if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
      return save(tx, endpoint, { status: "enabled", disabledReason: null }, endpointEnabled);
    },

    /** Disables an endpoint whose receiver says that it will never want anything again. */
    async disable(tx: Tx, endpoint: Endpoint): Promise<StatusOutcome> {
      if (endpoint.status === "disabled") return { outcome: "changed", endpoint };
      const gone = { status: "disabled", disabledReason: "gone" } as const;
      return save(tx, endpoint, gone, (disabled) => endpointDisabled(disabled, "gone"));
    },
  };
}
