import { AppError, type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import type { Endpoint } from "./endpoint.ts";
import { endpointCreated } from "./endpoint-events.ts";
import type { EndpointStore } from "./endpoint-store.ts";

export type CreateEndpoint = Pick<Endpoint, "accountId" | "url" | "description" | "eventTypes" | "settings">;

/** The endpoint and its secret, which is shown this once. */
export interface CreatedEndpoint {
  readonly endpoint: Endpoint;
  readonly secret: string;
}

interface Dependencies {
  readonly pool: Pool;
  readonly endpoints: EndpointStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly assertTarget: (url: string) => void;
  /** Every event costs a delivery per endpoint, so their number has a bound. */
  readonly endpointsMax: () => number;
}

/** Registers an endpoint. It gets the events committed from now on. */
export function createCreateEndpoint({ pool, endpoints, outbox, clock, assertTarget, endpointsMax }: Dependencies) {
  return async function createEndpoint(
    input: CreateEndpoint,
    within: (tx: Tx, made: CreatedEndpoint) => Promise<void>,
  ): Promise<CreatedEndpoint> {
    assertTarget(input.url);
    const now = clock.now();
    const secret = createEndpointSecret();
    const endpoint: Endpoint = {
      ...input,
      id: newId("whe", now.getTime()),
      status: "enabled",
      disabledReason: null,
      revision: 1,
      createdAt: now,
      updatedAt: now,
    };
    await inTransaction(pool, async (tx) => {
      if ((await endpoints.count(tx, input.accountId)) >= endpointsMax()) {
        throw new AppError("conflict", `An account has at most ${endpointsMax()} endpoints.`);
      }
      await endpoints.insert(tx, endpoint, secret);
      await outbox.append(tx, [endpointCreated(endpoint)]);
      await within(tx, { endpoint, secret });
    });
    return { endpoint, secret };
  };
}
