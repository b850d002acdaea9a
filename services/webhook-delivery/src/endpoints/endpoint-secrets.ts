import type { Caller } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import { type Endpoint, endpointUpdated, requireScopeOf } from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { SecretStore } from "./secret-store.ts";

interface SecretDependencies {
  readonly endpointStore: Pick<EndpointStore, "save" | "lock">;
  readonly secretStore: SecretStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly rotationOverlapMs: () => number;
}

/** Every live secret adds a signature to a header of every delivery. */
const liveSecretsMax = 5;

export type EndpointSecrets = ReturnType<typeof createEndpointSecrets>;

/** Creates the operations on the secrets that sign deliveries: rotate them, and show them to their owner. */
export function createEndpointSecrets({
  endpointStore,
  secretStore,
  outbox,
  clock,
  rotationOverlapMs,
}: SecretDependencies) {
  async function save(tx: Tx, caller: Caller, endpoint: Endpoint, secrets: Endpoint["secrets"]): Promise<Endpoint> {
    const changed = { ...endpoint, secrets, revision: endpoint.revision + 1, updatedAt: clock.now() };
    await endpointStore.save(tx, changed);
    const change = { action: "webhook_endpoint.rotate_secret", subject: endpoint.id, fields: ["secret"] } as const;
    await outbox.append(tx, [endpointUpdated(changed, ["secret"]), audited(caller, change)]);
    return changed;
  }

  return {
    /** Gives the endpoint a new secret. The previous secrets sign beside it until their overlaps end. */
    async rotate(tx: Tx, caller: Caller, endpoint: Endpoint, overlapSeconds?: number) {
      requireScopeOf(endpoint, caller);
      const overlapMs = overlapSeconds === undefined ? rotationOverlapMs() : seconds(overlapSeconds);
      const now = clock.now();
      const rotation = rotate(endpoint.secrets, { max: liveSecretsMax, overlapMs, now });
      if (rotation.outcome !== "rotated") return rotation;
      const secret = createEndpointSecret();
      await secretStore.keep(tx, endpoint.id, rotation.older);
      const secrets = [await secretStore.insert(tx, endpoint.id, secret, now), ...rotation.older];
      return { outcome: "rotated", endpoint: await save(tx, caller, endpoint, secrets), secret } as const;
    },

    /** Ends the overlap now: from here on only the newest secret signs. */
    async removePrevious(tx: Tx, caller: Caller, endpoint: Endpoint): Promise<void> {
      requireScopeOf(endpoint, caller);
      const secrets = endpoint.secrets.filter(({ endsAt }) => endsAt === null);
      if (secrets.length === endpoint.secrets.length) return;
      await secretStore.keep(tx, endpoint.id, secrets);
      await save(tx, caller, endpoint, secrets);
    },

    /** Shows the secret of an endpoint; null when the caller has no such endpoint. */
    async reveal(tx: Tx, caller: Caller, id: string): Promise<string | null> {
      const secret = await secretStore.find(tx, caller.accountId, id);
      const endpoint = secret === null ? null : await endpointStore.lock(tx, caller.accountId, id);
      if (secret === null || endpoint === null) return null;
      requireScopeOf(endpoint, caller);
      await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.reveal_secret", subject: id })]);
      return secret;
    },
  };
}
