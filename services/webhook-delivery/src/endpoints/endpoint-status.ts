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

const ownerChanges = { pause: "paused", resume: "enabled", enable: "enabled" } as const;

/** Changes the status for the owner. A disabled endpoint has to be enabled before anything else. */
export async function changeStatus(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
  change: keyof typeof ownerChanges,
) {
  if (change !== "pause") requireScopeOf(endpoint, caller);
  const status = ownerChanges[change];
  if (endpoint.status === status) return { outcome: "changed", endpoint } as const;
  if (change === "enable") return enableAgain(service, tx, endpoint, caller);
  if (endpoint.status === "disabled") return { outcome: "disabled" } as const;
  const entry = { by: caller, action: `webhook_endpoint.${change}` } as const;
  return saveStatus(service, tx, endpoint, { status }, entry, (changed) => endpointUpdated(changed, ["status"]));
}

/** Enables an endpoint that was disabled because it failed, after a successful probe. */
export async function recoverEndpoint(service: DeliveryService, tx: Tx, endpoint: Endpoint): Promise<void> {
  if (endpoint.status !== "disabled" || endpoint.disabledReason !== "failing") return;
  await enableAgain(service, tx, endpoint, systemActor("delivery"));
}

/** Disables an endpoint. An endpoint disabled as `failing` can recover; one disabled as `scope` cannot. */
export async function disableEndpoint(service: DeliveryService, tx: Tx, endpoint: Endpoint, reason: DisabledReason) {
  const isFinal = reason !== "scope" || endpoint.disabledReason === reason;
  if (endpoint.status === "disabled" && isFinal) return;
  const change = { status: "disabled", disabledReason: reason } as const;
  const entry = { by: systemActor("delivery"), action: "webhook_endpoint.disable" } as const;
  await saveStatus(service, tx, endpoint, change, entry, (disabled) => endpointDisabled(disabled, reason));
}

const forgetFailures = sql("health.forget", "delete from endpoint_health where endpoint_id = $1");

async function enableAgain(service: DeliveryService, tx: Tx, endpoint: Endpoint, by: Caller | Actor) {
  await tx.query(forgetFailures, [endpoint.id]);
  const entry = { by, action: "webhook_endpoint.enable" } as const;
  return saveStatus(service, tx, endpoint, { status: "enabled", disabledReason: null }, entry, endpointEnabled);
}

interface StatusEntry {
  readonly by: Caller | Actor;
  readonly action: `webhook_endpoint.${"pause" | "resume" | "enable" | "disable"}`;
}

async function saveStatus(
  { outbox, clock, wakeUp }: DeliveryService,
  tx: Tx,
  endpoint: Endpoint,
  change: Partial<Endpoint>,
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
