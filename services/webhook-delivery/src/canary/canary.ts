import { hours } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import { ageSeconds } from "@signalbox/service";
import { atStart, type Pool, sql } from "@signalbox/storage";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { SecretStore } from "../endpoints/secret-store.ts";
import type { Properties } from "../properties.ts";
import { ensureCanaryEndpoint } from "./canary-endpoint.ts";
import { type CanaryReceiver, openCanaryReceiver } from "./canary-receiver.ts";

type Context = ServiceContext<Properties>;

interface Stores {
  readonly endpointStore: EndpointStore;
  readonly secretStore: SecretStore;
}

/** Opens the end of the canary's way: its endpoint, a receiver of our own and the ages of both stages; null when off. */
export async function openCanary(context: Context, pool: Pool, stores: Stores): Promise<CanaryReceiver | null> {
  const { configuration, clock, log } = context;
  if (!configuration.get("canary.enabled")) return null;
  const waitMs = configuration.get("database.start-wait");
  const endpointId = await atStart(() => ensureCanaryEndpoint(pool, stores, clock.now()), { waitMs, log });
  observeStages(context, pool, endpointId);
  return openCanaryReceiver(context, { pool, secretStore: stores.secretStore, endpointId });
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
function observeStages({ clock, metrics }: Context, pool: Pool, endpointId: string): void {
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
