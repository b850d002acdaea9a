import { hours } from "@signalbox/core";
import { ageSeconds } from "@signalbox/service";
import { atStart, type Pool, type Sealer, sql } from "@signalbox/storage";
import type { DeliveryContext } from "../context/delivery-service.ts";
import { ensureCanaryEndpoint } from "./canary-endpoint.ts";
import { type CanaryReceiver, openCanaryReceiver } from "./canary-receiver.ts";

/** Opens the end of the canary's way: its endpoint, a receiver of our own and the ages of both stages; null when off. */
export async function openCanary(context: DeliveryContext, pool: Pool, sealer: Sealer): Promise<CanaryReceiver | null> {
  const { configuration, clock, log } = context;
  if (!configuration.get("canary.enabled")) return null;
  const waitMs = configuration.get("database.start-wait");
  const endpointId = await atStart(() => ensureCanaryEndpoint(pool, sealer, clock.now()), { waitMs, log });
  observeStages(context, pool, endpointId);
  return openCanaryReceiver(context, pool, sealer, endpointId);
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

interface Newest {
  readonly since: Date;
  readonly consumed: Date | null;
  readonly delivered: Date | null;
}

/** Reports the ages from the rows that all instances share, so that no restart makes a late canary look young. */
function observeStages({ clock, metrics }: DeliveryContext, pool: Pool, endpointId: string): void {
  metrics.gauge("signalbox_canary_age_seconds", async (gauge) => {
    const from = new Date(clock.nowMs() - ageMsMax);
    const [row] = (await pool.query<Newest>(newest, [endpointId, from])).rows;
    if (row === undefined) return;
    const { since, ...stages } = row;
    for (const [stage, at] of Object.entries(stages)) {
      gauge.set({ stage }, ageSeconds(clock, at ?? (since > from ? since : from)));
    }
  });
}
