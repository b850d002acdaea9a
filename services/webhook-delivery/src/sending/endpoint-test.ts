import type { Caller } from "@signalbox/auth";
import { webhookEndpointExample } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { ok } from "@signalbox/http";
import { isProxyError } from "@signalbox/net";
import { audited, type Edges, edgesOf, operation } from "@signalbox/service";
import { inTransaction, type Pool } from "@signalbox/storage";
import { type Attempt, AttemptResource, viewAttempt } from "../deliveries/attempt.ts";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import { type Endpoint, viewEndpoint } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { customEventOf } from "../events/custom-event.ts";
import type { NewEvent } from "../events/outgoing-event.ts";
import type { Attempt as MakeAttempt } from "./attempt-loop.ts";
import type { AttemptResults } from "./attempt-results.ts";
import { insertDeliveries, leasedOf } from "./insert-deliveries.ts";
import { hostOf } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { Leases } from "./leases.ts";

interface TestDependencies {
  readonly pool: Pool;
  readonly directory: EndpointCache;
  readonly lanes: Pick<Lanes, "room">;
  readonly leases: Pick<Leases, "instance" | "leaseMs">;
  readonly results: Pick<AttemptResults, "add">;
  readonly attempt: MakeAttempt;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

export type TestEndpoint = ReturnType<typeof createEndpointTest>;

/**
 * Creates the operation that sends the event `webhook_endpoint.test` to an endpoint now, at any status, and returns the
 * attempt. The attempt is logged like every other, is made once, and does not count for the endpoint's health. Returns
 * null when nothing can be sent now.
 */
export function createEndpointTest({
  pool,
  directory,
  lanes: { room },
  leases,
  results,
  attempt,
  outbox,
  clock,
}: TestDependencies) {
  return async (caller: Caller, endpoint: Endpoint): Promise<Attempt | null> => {
    const { instance, leaseMs } = leases;
    const signing = await directory.find(endpoint.accountId, endpoint.id, endpoint.revision);
    if (instance === null || signing === null) return null;
    const event = testEvent(endpoint, clock.now());
    const id = deliveryIdOf(event.id, event.createdAt, endpoint.id);
    const planned = { id, event, endpointId: endpoint.id, leased: true, delayMs: 0, order: null };
    const { leasedUntil } = await inTransaction(pool, async (tx) => {
      await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.test", subject: endpoint.id })]);
      return insertDeliveries(tx, [], null, [planned], { leaseMs, instance });
    });
    const delivery = leasedOf(planned, "test", leasedUntil);
    const host = hostOf(endpoint.url);
    room.move(delivery, "leaseForTest", host);
    const finished = await attempt(delivery, signing).catch((error: unknown) => {
      room.move(delivery, "fail", host);
      if (isProxyError(error)) return null;
      throw error;
    });
    if (finished === null) return null;
    room.move(delivery, "answer", host);
    await results.add({ ...finished, delivery, endpoint: signing }).finally(() => room.move(delivery, "record", host));
    const { status } = finished.result;
    return { ...finished.attempt, decision: status !== null && isSuccess(status) ? "succeeded" : "exhausted" };
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The test event has the envelope of a custom one. */
const testEvent = (endpoint: Endpoint, at: Date): NewEvent =>
  customEventOf({ type: "webhook_endpoint.test", data: viewEndpoint(endpoint) }, endpoint.accountId, at);

/** Time of the longest attempt and of its record. */
const testDeadlineMs = seconds(40);

interface EndpointTestApi {
  readonly testEndpoint: TestEndpoint;
  readonly endpointStore: Pick<EndpointStore, "find">;
}

/** The test of an endpoint, at both edges. */
export function endpointTestApi({ testEndpoint, endpointStore }: EndpointTestApi): Edges {
  const declared = {
    testWebhookEndpoint: operation({
      summary: "Send a test event now, and see what comes back",
      description:
        "Posts `webhook_endpoint.test` once, with the endpoint as its data, at any status of the endpoint. The answer is the attempt, even a failed one.",
      auth: { scopes: ["webhooks:write"], portal: true },
      audit: "webhook_endpoint.test",
      async act({ caller, params }) {
        const endpoint = await endpointStore.find(caller, params.id);
        if (endpoint === null) return { outcome: "missing" } as const;
        if (endpoint.type === "pull") return { outcome: "pull" } as const;
        return (await testEndpoint(caller, endpoint)) ?? ({ outcome: "cannot-send" } as const);
      },
      refusals: {
        missing: { code: "not_found", message: "There is no such endpoint." },
        pull: { code: "conflict", message: "A pull endpoint has no URL; publish an event and take its message." },
        "cannot-send": { code: "unavailable", message: "The service cannot send now." },
      },
      rest: {
        post: "/api/v1/webhooks/endpoints/:id/test",
        responses: { 200: AttemptResource, 409: "error", 503: "error" },
        deadlineMs: testDeadlineMs,
        answer: (attempt) => ok(viewAttempt(attempt)),
      },
      graph: { payload: "attempt", type: "TestWebhookEndpointPayload" },
    }),
  };
  return edgesOf(declared, { exampleIds: { id: webhookEndpointExample.id } });
}
