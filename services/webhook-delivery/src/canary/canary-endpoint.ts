import { canaryAccountId } from "@signalbox/contracts";
import { inTransaction, type Pool, type Sealer } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import { endpointFrom } from "../endpoints/endpoint.ts";
import { defaultSettings } from "../endpoints/endpoint-settings.ts";
import { insertEndpoint, lockEndpointCount, lockEndpointsOf } from "../endpoints/endpoint-store.ts";
import { insertSecret } from "../endpoints/secret-store.ts";

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
export async function ensureCanaryEndpoint(pool: Pool, sealer: Sealer, at: Date) {
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
