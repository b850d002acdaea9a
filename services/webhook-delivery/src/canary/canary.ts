import { canaryAccountId } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { ageSeconds } from "@signalbox/service";
import { atStart, inTransaction, type Pool, type Sealer, sql } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import type { DeliveryContext } from "../context/delivery-service.ts";
import { endpointFrom } from "../endpoints/endpoint.ts";
import { defaultSettings } from "../endpoints/endpoint-settings.ts";
import { insertEndpoint, lockEndpointCount, lockEndpointsOf } from "../endpoints/endpoint-store.ts";
import { insertSecret } from "../endpoints/secret-store.ts";
import { type CanaryReceiver, openCanaryReceiver } from "./canary-receiver.ts";

export async function openCanary(context: DeliveryContext, pool: Pool, sealer: Sealer): Promise<CanaryReceiver | null> {
  const { configuration, clock, log } = context;
  if (!configuration.get("canary.enabled")) return null;
  const waitMs = configuration.get("database.start-wait");
  const endpointId = await atStart(() => ensureCanaryEndpoint(pool, sealer, clock.now()), { waitMs, log });
  observeStages(context, pool, endpointId);
  return openCanaryReceiver(context, pool, sealer, endpointId);
}

const wanted: Parameters<typeof endpointFrom>[0] = {
  type: "push",
  // Stands for the receiver of the process that makes the attempt. Nobody can have this name.
  url: "https://canary.invalid/",
  description: null,
  eventTypes: ["account.canary_changed"],
  scope: "account",
  // The next change comes in a minute; a retry would only hide that this one was lost.
  settings: { ...defaultSettings, retry_schedule_seconds: [0] },
};

/** Creates the canary's endpoint unless it is there, and returns its id. */
async function ensureCanaryEndpoint(pool: Pool, sealer: Sealer, at: Date) {
  return inTransaction(pool, async (tx) => {
    // Instances that start together create one.
    await lockEndpointCount(tx, canaryAccountId);
    const [known] = await lockEndpointsOf(tx, canaryAccountId);
    if (known) return known.id;
    const endpoint = endpointFrom(wanted, canaryAccountId, at);
    await insertEndpoint(tx, endpoint);
    await insertSecret(tx, sealer, endpoint.id, createEndpointSecret(), at);
    return endpoint.id;
  });
}

/** An older canary is as late as this; it bounds the rows that a look reads. */
const ageMsMax = hours(24);

/** A canary counts as consumed with its delivery, and as delivered with the recorded answer of the receiver. */
const newest = sql(
  "canary.newest",
  `select (select created_at from endpoints where id = $1) as "since", max(created_at) as consumed,
     max(created_at) filter (where status = 'succeeded') as delivered
   from deliveries where endpoint_id = $1 and created_at > $2`,
);

type Stages = { readonly since: Date } & Readonly<Record<"consumed" | "delivered", Date | null>>;

/** Reports the ages from the rows that all instances share, so that no restart makes a late canary look young. */
function observeStages({ clock, metrics }: DeliveryContext, pool: Pool, endpointId: string): void {
  metrics.gauge("signalbox_canary_age_seconds", async (gauge) => {
    const from = new Date(clock.nowMs() - ageMsMax);
    const [row] = (await pool.query<Stages>(newest, [endpointId, from])).rows;
    if (row === undefined) return;
    const { since, ...stages } = row;
    for (const [stage, at] of Object.entries(stages)) {
      gauge.set({ stage }, ageSeconds(clock, at ?? (since > from ? since : from)));
    }
  });
}
