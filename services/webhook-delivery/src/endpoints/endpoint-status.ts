import type { Caller } from "@signalbox/auth";
import type { EventDraft } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { type Actor, audited, systemActor } from "@signalbox/service";
import { sql, type Tx } from "@signalbox/storage";
import {
  type DisabledReason,
  type Endpoint,
  endpointDisabled,
  endpointEnabled,
  endpointUpdated,
  requireScopeOf,
} from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface StatusDependencies {
  readonly endpointStore: EndpointStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Wakes the worker of this instance, because deliveries may be due. */
  readonly wake: () => void;
}

/** `disabled`: the owner has to enable the endpoint first. */
export type StatusOutcome =
  | { readonly outcome: "changed"; readonly endpoint: Endpoint }
  | { readonly outcome: "disabled" };

export type EndpointStatus = ReturnType<typeof createEndpointStatus>;

/**
 * Creates the operations that change the status of an endpoint. Its deliveries keep their place in the queue, and go
 * out while the endpoint is enabled.
 */
export function createEndpointStatus(dependencies: StatusDependencies) {
  return {
    /** Holds deliveries until the endpoint is resumed. */
    async pause(tx: Tx, caller: Caller, endpoint: Endpoint): Promise<StatusOutcome> {
      if (endpoint.status === "paused") return { outcome: "changed", endpoint };
      if (endpoint.status === "disabled") return { outcome: "disabled" };
      const entry = { by: caller, action: "webhook_endpoint.pause" } as const;
      return save(dependencies, tx, endpoint, { status: "paused" }, entry, updated);
    },

    /** Resumes a paused endpoint, held deliveries first. */
    async resume(tx: Tx, caller: Caller, endpoint: Endpoint): Promise<StatusOutcome> {
      requireScopeOf(endpoint, caller);
      if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
      if (endpoint.status === "disabled") return { outcome: "disabled" };
      const entry = { by: caller, action: "webhook_endpoint.resume" } as const;
      return save(dependencies, tx, endpoint, { status: "enabled" }, entry, updated);
    },

    /** Enables a disabled endpoint, held deliveries first. */
    async enable(tx: Tx, caller: Caller, endpoint: Endpoint): Promise<StatusOutcome> {
      requireScopeOf(endpoint, caller);
      if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
      return enable(dependencies, tx, endpoint, caller);
    },

    /** Enables an endpoint that was disabled because it failed, after a successful probe. */
    async recover(tx: Tx, endpoint: Endpoint): Promise<void> {
      if (endpoint.status !== "disabled" || endpoint.disabledReason !== "failing") return;
      await enable(dependencies, tx, endpoint, systemActor("delivery"));
    },

    /** Disables an endpoint. An endpoint disabled as `failing` can recover; one disabled as `scope` cannot. */
    async disable(tx: Tx, endpoint: Endpoint, reason: DisabledReason): Promise<StatusOutcome> {
      const isFinal = reason !== "scope" || endpoint.disabledReason === reason;
      if (endpoint.status === "disabled" && isFinal) return { outcome: "changed", endpoint };
      const change = { status: "disabled", disabledReason: reason } as const;
      const entry = { by: systemActor("delivery"), action: "webhook_endpoint.disable" } as const;
      return save(dependencies, tx, endpoint, change, entry, (disabled) => endpointDisabled(disabled, reason));
    },
  };
}

const forgetFailures = sql("health.forget", "delete from endpoint_health where endpoint_id = $1");

async function enable(parts: StatusDependencies, tx: Tx, endpoint: Endpoint, by: Caller | Actor) {
  await tx.query(forgetFailures, [endpoint.id]);
  const entry = { by, action: "webhook_endpoint.enable" } as const;
  return save(parts, tx, endpoint, { status: "enabled", disabledReason: null }, entry, endpointEnabled);
}

const updated = (endpoint: Endpoint): EventDraft => endpointUpdated(endpoint, ["status"]);

interface StatusEntry {
  readonly by: Caller | Actor;
  readonly action: `webhook_endpoint.${"pause" | "resume" | "enable" | "disable"}`;
}

/** Saves the endpoint with its new status, an event and an audit entry. */
async function save(
  { endpointStore, outbox, clock, wake }: StatusDependencies,
  tx: Tx,
  endpoint: Endpoint,
  change: Pick<Endpoint, "status"> & Partial<Pick<Endpoint, "disabledReason">>,
  { by, action }: StatusEntry,
  event: (changed: Endpoint) => EventDraft,
) {
  const changed = { ...endpoint, ...change, revision: endpoint.revision + 1, updatedAt: clock.now() };
  await endpointStore.save(tx, changed);
  if (changed.status === "enabled") await endpointStore.release(tx, changed.id);
  tx.afterCommit(wake);
  const { id: subject, accountId, disabledReason: reason } = changed;
  await outbox.append(tx, [event(changed), audited(by, { action, accountId, subject, fields: ["status"], reason })]);
  return { outcome: "changed", endpoint: changed } as const;
}
