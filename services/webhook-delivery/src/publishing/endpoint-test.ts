import type { Caller } from "@signalbox/auth";
import { webhookEndpointExample } from "@signalbox/contracts";
import { RawJson, seconds } from "@signalbox/core";
import { ok } from "@signalbox/http";
import { isProxyError } from "@signalbox/net";
import { audited, type Edges, edgesOf, operation } from "@signalbox/service";
import { inTransaction } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Attempt, AttemptResource, attemptFor, viewAttempt } from "../deliveries/attempt.ts";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import { isSuccess } from "../deliveries/retry-schedule.ts";
import { type Endpoint, viewEndpoint } from "../endpoints/endpoint.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { endpointOfSubscriber } from "../endpoints/portal-view.ts";
import { customEventOf } from "../events/custom-event.ts";
import type { NewEvent } from "../events/outgoing-event.ts";
import { attemptDelivery } from "../sending/attempt-delivery.ts";
import { insertDeliveries, leasedOf } from "../sending/insert-deliveries.ts";
import { hostOf } from "../sending/lane.ts";

/** Posts the test event once, at any status, without effect on the endpoint's health; null when it cannot be sent. */
async function testEndpoint(service: DeliveryService, caller: Caller, endpoint: Endpoint): Promise<Attempt | null> {
  const { pool, outbox, clock, endpointCache, leases, sender, results } = service;
  const { room } = service.lanes;
  const { instance, leaseMs } = leases;
  const signing = await endpointCache.find(endpoint.accountId, endpoint.id, endpoint.revision);
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
  const finished = await attemptDelivery(sender, delivery, signing).catch((error: unknown) => {
    room.move(delivery, "fail", host);
    if (isProxyError(error)) return null;
    throw error;
  });
  if (finished === null) return null;
  room.move(delivery, "answer", host);
  await results.add({ ...finished, delivery, endpoint: signing }).finally(() => room.move(delivery, "record", host));
  return { ...finished.attempt, decision: isSuccess(finished.result.status) ? "succeeded" : "exhausted" };
}

/** Builds the test event, in the envelope of a custom one. The subscriber reads it, so it shows what a subscriber sees. */
function testEvent(endpoint: Endpoint, at: Date): NewEvent {
  const data = RawJson.of(viewEndpoint(endpointOfSubscriber(endpoint)));
  return customEventOf({ type: "webhook_endpoint.test", data }, endpoint.accountId, at);
}

const testDeadlineMs = seconds(40);

export function endpointTestApi(service: DeliveryService): Edges {
  const declared = {
    testWebhookEndpoint: operation({
      summary: "Send a test event now and see the response",
      description:
        "Posts `webhook_endpoint.test` once, with the endpoint as its data, whatever the status of the endpoint. The receiver's response is returned as the attempt, even a failed one.",
      auth: { scopes: ["webhooks:write"], portal: true },
      audit: "webhook_endpoint.test",
      async act({ caller, params }) {
        const endpoint = await findEndpoint(service.pool, caller, params.id);
        if (endpoint === null) return { outcome: "missing" } as const;
        if (endpoint.type === "pull") return { outcome: "pull" } as const;
        const attempt = await testEndpoint(service, caller, endpoint);
        return attempt ? attemptFor(caller, attempt) : ({ outcome: "cannot-send" } as const);
      },
      refusals: {
        missing: { code: "not_found", message: "There is no such endpoint." },
        pull: { code: "conflict", message: "A pull endpoint has no URL; publish an event and fetch its message." },
        "cannot-send": { code: "unavailable", message: "The service cannot send at the moment." },
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
