import { examples, timestamp, viewOf, webhookEndpointExample } from "@signalbox/contracts";
import { createRoutes, field, ok, refusedWith } from "@signalbox/http";
import { type Edges, edgesOf, joinEdges, operation, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { type Consumer, listConsumers } from "./consumer-store.ts";
import { deleteConsumer, putConsumer, startOfConsumer } from "./consumers.ts";
import { noMessages } from "./pull-api.ts";
import { ConsumerName } from "./pull-message.ts";
import { findPullRows } from "./pull-messages.ts";

const all = "/api/v1/webhooks/endpoints/:id/consumers" as const;
const one = `${all}/:name` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const audit = "webhook_endpoint.update";
const params = z.object({ id: z.string(), name: ConsumerName });

const ConsumerBody = z
  .strictObject({
    from: z
      .string()
      .min(1)
      .max(128)
      .default("now")
      .describe("Where it starts: `now`, a time, or the id of an event that the endpoint received."),
  })
  .meta({ id: "PutWebhookConsumer" })
  .register(examples, { example: { from: "2026-01-01T09:00:00.000Z" } });

const ConsumerResource = z
  .object({
    name: z.string().nullable().describe("The name; null for the endpoint itself."),
    from: z.string().nullable().describe("Where it started, as requested; null for the endpoint itself."),
    status: z.enum(["copying", "ready"]).describe("`copying` while messages since its start are prepared."),
    lag: z.int().describe("Messages that it has not acknowledged; at most 100,000 are counted."),
    leased: z.int().describe("Messages among them that are currently leased."),
    oldest_at: timestamp.nullable().describe("Time of the oldest unacknowledged event."),
    created_at: timestamp,
  })
  .meta({ id: "WebhookConsumer", description: "A consumer of a pull endpoint, with its own position in the stream." });

const consumerExample: z.output<typeof ConsumerResource> = {
  name: "billing",
  from: "now",
  status: "ready",
  lag: 12,
  leased: 2,
  oldest_at: "2026-01-01T09:00:00.000Z",
  created_at: "2026-01-01T08:00:00.000Z",
};

examples.add(ConsumerResource, { example: consumerExample });

const ConsumersResource = z
  .object({ items: z.array(ConsumerResource).describe("The endpoint itself, then its named consumers.") })
  .meta({ id: "WebhookConsumers" })
  .register(examples, { example: { items: [consumerExample] } });

const viewConsumer = viewOf(ConsumerResource, ({ start, isReady }: Consumer) => ({
  from: start,
  status: isReady ? ("ready" as const) : ("copying" as const),
}));

export function consumerApi(service: DeliveryService): Edges {
  const fields = {
    WebhookEndpoint: {
      consumers: field(read, ({ id, type }: Endpoint, _args, { caller }) =>
        type === "pull" ? listConsumers(service.pool, caller.accountId, id) : [],
      ),
    },
    WebhookConsumer: { from: ({ start }: { readonly start: string | null }) => start },
  };
  const exampleIds = { id: webhookEndpointExample.id, name: consumerExample.name ?? "" };
  return joinEdges([edgesOf(declareWrites(service), { exampleIds, fields }), { routes: listRoute(service) }]);
}

function listRoute(service: DeliveryService) {
  const routes = createRoutes({ exampleIds: { id: webhookEndpointExample.id } });
  routes.get(all, {
    operationId: "webhookConsumers",
    summary: "List the consumers of a pull endpoint with their lag",
    description: "The first one has no name: it is the endpoint itself, as polls without `consumer` read it.",
    auth: read,
    responses: { 200: ConsumersResource, 404: "error", 409: "error" },
    async handle({ caller, params: { id } }) {
      const found = await findPullRows(service, caller, id);
      if (found.outcome !== "found") return refusedWith(noMessages[found.outcome]);
      return ok({ items: (await listConsumers(service.pool, caller.accountId, id)).map(viewConsumer) });
    },
  });
  return routes;
}

function declareWrites(service: DeliveryService) {
  return {
    putWebhookConsumer: operation({
      summary: "Create a named consumer of a pull endpoint",
      description:
        "It reads the same stream at its own position, starting at `now`, a time or an event. Repeating the request changes nothing; a different start is refused, because a consumer's position is what it has acknowledged.",
      auth: write,
      audit,
      params,
      input: ConsumerBody,
      prepare: ({ caller, input: { from } }) => startOfConsumer(service, caller, from),
      create: (tx, { caller, params: path, input }, from) => putConsumer(service, tx, caller, path, input.from, from),
      refusals: {
        ...noMessages,
        leaving: { code: "conflict", message: "A deleted consumer of this name is being removed. Try again shortly." },
        exists: {
          code: "conflict",
          message: "The consumer exists with a different start. Delete it first to start over.",
        },
        "limit-reached": ({ max }) =>
          tooMany("consumers", `The endpoint has ${max} consumers; delete one that is not needed.`),
      },
      rest: { put: one, responses: { 204: "empty" } },
    }),
    deleteWebhookConsumer: operation({
      summary: "Delete a consumer with its deliveries",
      description: "Other consumers of the endpoint keep theirs.",
      auth: write,
      audit,
      params,
      create: (tx, { caller, params: path }) => deleteConsumer(service, tx, caller, path),
      refusals: {
        ...noMessages,
        "no-consumer": { code: "not_found", message: "The endpoint has no consumer of this name." },
      },
      rest: { delete: one, responses: { 204: "empty" } },
    }),
  };
}
