import type { Caller } from "@signalbox/auth";
import type { EventDraft } from "@signalbox/contracts";
import { type Actor, audited, systemActor } from "@signalbox/service";
import { sql, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import {
  type DisabledReason,
  type Endpoint,
  endpointDisabled,
  endpointEnabled,
  endpointUpdated,
  requireScopeOf,
} from "./endpoint.ts";
import { releaseEndpoint, saveEndpoint } from "./endpoint-store.ts";

/** `disabled`: the owner has to enable the endpoint first. */
type StatusOutcome = { readonly outcome: "changed"; readonly endpoint: Endpoint } | { readonly outcome: "disabled" };

/** Holds deliveries until the endpoint is resumed. They keep their place in the queue. */
export async function pauseEndpoint(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
): Promise<StatusOutcome> {
  if (endpoint.status === "paused") return { outcome: "changed", endpoint };
  if (endpoint.status === "disabled") return { outcome: "disabled" };
  const entry = { by: caller, action: "webhook_endpoint.pause" } as const;
  return saveStatus(service, tx, endpoint, { status: "paused" }, entry, updated);
}

/** Resumes a paused endpoint, held deliveries first. */
export async function resumeEndpoint(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
): Promise<StatusOutcome> {
  requireScopeOf(endpoint, caller);
  if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
  if (endpoint.status === "disabled") return { outcome: "disabled" };
  const entry = { by: caller, action: "webhook_endpoint.resume" } as const;
  return saveStatus(service, tx, endpoint, { status: "enabled" }, entry, updated);
}

/** Enables a disabled endpoint, held deliveries first. */
export async function enableEndpoint(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
): Promise<StatusOutcome> {
  requireScopeOf(endpoint, caller);
  if (endpoint.status === "enabled") return { outcome: "changed", endpoint };
  return enableAgain(service, tx, endpoint, caller);
}

/** Enables an endpoint that was disabled because it failed, after a successful probe. */
export async function recoverEndpoint(service: DeliveryService, tx: Tx, endpoint: Endpoint): Promise<void> {
  if (endpoint.status !== "disabled" || endpoint.disabledReason !== "failing") return;
  await enableAgain(service, tx, endpoint, systemActor("delivery"));
}

/** Disables an endpoint. An endpoint disabled as `failing` can recover; one disabled as `scope` cannot. */
export async function disableEndpoint(
  service: DeliveryService,
  tx: Tx,
  endpoint: Endpoint,
  reason: DisabledReason,
): Promise<StatusOutcome> {
  const isFinal = reason !== "scope" || endpoint.disabledReason === reason;
  if (endpoint.status === "disabled" && isFinal) return { outcome: "changed", endpoint };
  const change = { status: "disabled", disabledReason: reason } as const;
  const entry = { by: systemActor("delivery"), action: "webhook_endpoint.disable" } as const;
  return saveStatus(service, tx, endpoint, change, entry, (disabled) => endpointDisabled(disabled, reason));
}

const forgetFailures = sql("health.forget", "delete from endpoint_health where endpoint_id = $1");

async function enableAgain(service: DeliveryService, tx: Tx, endpoint: Endpoint, by: Caller | Actor) {
  await tx.query(forgetFailures, [endpoint.id]);
  const entry = { by, action: "webhook_endpoint.enable" } as const;
  return saveStatus(service, tx, endpoint, { status: "enabled", disabledReason: null }, entry, endpointEnabled);
}

const updated = (endpoint: Endpoint): EventDraft => endpointUpdated(endpoint, ["status"]);

interface StatusEntry {
  readonly by: Caller | Actor;
  readonly action: `webhook_endpoint.${"pause" | "resume" | "enable" | "disable"}`;
}

/** Saves the endpoint with its new status, an event and an audit entry. */
async function saveStatus(
  { outbox, clock, wakeUp }: DeliveryService,
  tx: Tx,
  endpoint: Endpoint,
  change: Pick<Endpoint, "status"> & Partial<Pick<Endpoint, "disabledReason">>,
  { by, action }: StatusEntry,
  event: (changed: Endpoint) => EventDraft,
) {
  const changed = { ...endpoint, ...change, revision: endpoint.revision + 1, updatedAt: clock.now() };
  await saveEndpoint(tx, changed);
  if (changed.status === "enabled") await releaseEndpoint(tx, changed.id);
  tx.afterCommit(wakeUp.wake);
  const { id: subject, accountId, disabledReason: reason } = changed;
  await outbox.append(tx, [event(changed), audited(by, { action, accountId, subject, fields: ["status"], reason })]);
  return { outcome: "changed", endpoint: changed } as const;
}
