import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import { type Endpoint, endpointUpdated } from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface SecretDependencies {
  readonly endpointStore: EndpointStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly rotationOverlapMs: () => number;
}

export type EndpointSecrets = ReturnType<typeof createEndpointSecrets>;

/** The secrets that deliveries are signed with: rotated, and shown to their owners. */
export function createEndpointSecrets({ endpointStore, outbox, clock, rotationOverlapMs }: SecretDependencies) {
  return {
    /** Gives the endpoint a new secret; the old one signs beside it until the overlap ends. */
    async rotate(tx: Tx, caller: Caller, endpoint: Endpoint) {
      const secret = createEndpointSecret();
      await endpointStore.rotateSecret(tx, endpoint.id, secret, new Date(clock.nowMs() + rotationOverlapMs()));
      const rotated = { ...endpoint, revision: endpoint.revision + 1, updatedAt: clock.now() };
      await endpointStore.save(tx, rotated);
      const change = { action: "webhook_endpoint.rotate_secret", subject: endpoint.id, fields: ["secret"] } as const;
      await outbox.append(tx, [endpointUpdated(rotated, ["secret"]), audited(caller, change)]);
      return { endpoint: rotated, secret };
    },

    /** Shows the secret of an endpoint; null where the caller has no such endpoint. */
    async reveal(tx: Tx, caller: Caller, id: string): Promise<string | null> {
      const secret = await endpointStore.findSecret(tx, caller.accountId, id);
      if (secret === null) return null;
      await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.reveal_secret", subject: id })]);
      return secret;
    },
  };
}
