import { type Caller, requireStepUp } from "@signalbox/auth";
import { AppError, type Clock, changedMembers, patched } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { OutboundClient } from "@signalbox/net";
import type { Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import {
  type Endpoint,
  type EndpointChange,
  endpointCreated,
  endpointDeleted,
  endpointFieldNames,
  endpointFrom,
  endpointUpdated,
  type NewEndpoint,
} from "./endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface EndpointDependencies {
  readonly endpointStore: EndpointStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly outbound: Pick<OutboundClient, "check">;
  /** Endpoints that one account may have: every event costs a delivery for each. */
  readonly endpointsMax: () => number;
  readonly rotationOverlapMs: () => number;
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** The endpoints of an account: created, updated, given a new secret, deleted. */
export function createEndpoints(dependencies: EndpointDependencies) {
  const { endpointStore, outbox, clock, outbound, endpointsMax, rotationOverlapMs } = dependencies;
  return {
    /** Creates an endpoint, which gets the events committed from now on. Its secret is shown this once. */
    async create(tx: Tx, { accountId }: Caller, wanted: NewEndpoint) {
      assertTarget(outbound, wanted.url);
      const max = endpointsMax();
      if ((await endpointStore.lockCount(tx, accountId)) >= max) return { outcome: "limit-reached", max } as const;
      const endpoint = endpointFrom(wanted, accountId, clock.now());
      const secret = createEndpointSecret();
      await endpointStore.insert(tx, endpoint, secret);
      await outbox.append(tx, [endpointCreated(endpoint)]);
      return { outcome: "created", endpoint, secret } as const;
    },

    /**
     * Updates an endpoint. Another URL, which gets all that the old one would, needs a recent sign-in. A change that alters
     * nothing leaves no trace.
     */
    async update(
      tx: Tx,
      caller: Caller,
      endpoint: Endpoint,
      { settings, ...fields }: EndpointChange,
    ): Promise<Endpoint> {
      if (fields.url !== undefined) assertTarget(outbound, fields.url);
      const wanted = { ...patched(endpoint, fields), settings: { ...endpoint.settings, ...settings } };
      const changed = changedMembers(endpoint, wanted, endpointFieldNames);
      if (changed.length === 0) return endpoint;
      if (wanted.url !== endpoint.url) requireStepUp(caller, clock);
      const updated = { ...wanted, revision: endpoint.revision + 1, updatedAt: clock.now() };
      await endpointStore.save(tx, updated);
      await outbox.append(tx, [endpointUpdated(updated, changed)]);
      return updated;
    },

    /** Gives the endpoint a new secret; the old one signs beside it until the overlap ends. */
    async rotateSecret(tx: Tx, endpoint: Endpoint) {
      const secret = createEndpointSecret();
      await endpointStore.rotateSecret(tx, endpoint.id, secret, new Date(clock.nowMs() + rotationOverlapMs()));
      const rotated = { ...endpoint, revision: endpoint.revision + 1, updatedAt: clock.now() };
      await endpointStore.save(tx, rotated);
      await outbox.append(tx, [endpointUpdated(rotated, ["secret"])]);
      return { endpoint: rotated, secret };
    },

    /** Deletes an endpoint with its deliveries. */
    async delete(tx: Tx, endpoint: Endpoint): Promise<void> {
      await endpointStore.remove(tx, endpoint.id);
      await outbox.append(tx, [endpointDeleted(endpoint)]);
    },

    /** Deletes every endpoint of an account. */
    async deleteAllOf(tx: Tx, accountId: string): Promise<void> {
      const owned = await endpointStore.lockAllOf(tx, accountId);
      for (const { id } of owned) await endpointStore.remove(tx, id);
      if (owned.length > 0) await outbox.append(tx, owned.map(endpointDeleted));
    },
  };
}

/**
 * Refuses a URL that could never be delivered to: not https, credentials in it, a literal address that is not public.
 * What a name resolves to is judged at the socket, at every attempt. @throws AppError `validation_error` on `url`
 */
function assertTarget(outbound: Pick<OutboundClient, "check">, url: string): void {
  const problem = outbound.check(url, { requireHttps: true });
  if (problem === null) return;
  throw new AppError("validation_error", "Nothing can be delivered to this URL.", {
    details: [{ field: "url", code: problem.code, message: problem.message }],
  });
}
