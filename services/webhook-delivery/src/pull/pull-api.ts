import type { Caller } from "@signalbox/auth";
import { webhookEndpointExample } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { createRoutes, keptOpen, ok, refusedWith } from "@signalbox/http";
import { type Edges, edgesOf, joinEdges, operation } from "@signalbox/service";
import type { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { endLeases, postponeLeases } from "./end-leases.ts";
import { declareListening } from "./listening.ts";
import { streamMessages } from "./message-stream.ts";
import {
  AckBody,
  ExtendBody,
  ExtendedLeases,
  LeaseResults,
  MessagesResource,
  NackBody,
  PollQuery,
  viewMessage,
} from "./pull-message.ts";
import { findPullRows, pollMessages, requireWait } from "./pull-messages.ts";

const messages = "/api/v1/webhooks/endpoints/:id/messages" as const;
/** Taking a message changes it, so that reading rights are not enough. */
const consume = { scopes: ["webhooks:write"], access: "write" } as const;
const logged = { unaudited: "The log of attempts has every lease." } as const;

/** Refusals of requests for the messages of an endpoint that has none to take. */
export const noMessages = {
  missing: { code: "not_found", message: "There is no such endpoint." },
  push: { code: "conflict", message: "This endpoint has a URL, to which its messages are posted." },
} as const;

const noConsumer = { code: "not_found", message: "The endpoint has no consumer of this name." } as const;

const exampleIds = { id: webhookEndpointExample.id };

/** The messages of pull endpoints. Leases are for programs that work on messages; the graph shows their deliveries. */
export function pullApi(service: DeliveryService): Edges {
  return joinEdges([
    edgesOf({ ...declareListening(service), ...declareEnds(service) }, { exampleIds }),
    { routes: pollRoute(service) },
  ]);
}

const eventStream = /(^|,)\s*text\/event-stream\s*(;|,|$)/i;
/** nginx passes events on without buffering. */
const streamAnswer = { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } };

function pollRoute(service: DeliveryService) {
  const routes = createRoutes({ exampleIds });
  routes.get(messages, {
    operationId: "webhookMessages",
    summary: "Lease messages of a pull endpoint",
    description:
      "Each message has the body and the headers that a push would carry. Acknowledge it before `lease_ends_at`: a lease that ends is a failed attempt. Without a due message the answer comes when one is there or `wait_seconds` are over; it may be empty. With `Accept: text/event-stream` messages come as server-sent events `message`, as many at a time as `credit` says, until an event `end` asks for another stream.",
    auth: consume,
    query: PollQuery,
    responses: { 200: MessagesResource, 404: "error", 409: "error", 429: "error", 503: "error" },
    cache: "no-store",
    // A poll ends by its own wait, and a stream by its own time.
    deadlineMs: null,
    ownNegotiation: true,
    async handle({ caller, principal, params, query, request, headers, signal }) {
      const found = await findPullRows(service, caller, params.id);
      if (found.outcome !== "found") return refusedWith(noMessages[found.outcome]);
      const { consumer } = query;
      const id = consumer === undefined ? params.id : `${params.id}:${consumer}`;
      const row = found.rows.find((one) => one.id === id);
      if (row === undefined) return refusedWith(noConsumer);
      // Nobody reads the body of this answer: a lease would be lost.
      if (request.method === "HEAD") return ok({ items: [] });
      const isStream = eventStream.test(headers.accept ?? "");
      if (isStream || query.wait_seconds > 0) requireWait(service, caller);
      const { limit, credit } = query;
      if (isStream) {
        const asked = { row, credit, leaseMs: seconds(query.lease_seconds), principal };
        return keptOpen((...exchange) => void streamMessages(service, asked, ...exchange), streamAnswer);
      }
      const terms = { limit, waitMs: seconds(query.wait_seconds), leaseMs: seconds(query.lease_seconds) };
      const items = (await pollMessages(service, row, terms, signal)).map(viewMessage);
      return ok({ items });
    },
  });
  return routes;
}

interface OfEndpoint {
  readonly caller: Caller;
  readonly params: { readonly id: string };
}

function declareEnds(service: DeliveryService) {
  return {
    ackWebhookMessages: endOperation(service, {
      kind: "ack",
      summary: "Acknowledge messages",
      description:
        "They are delivered. A lease that was acknowledged before is no error; of leases that ended in another way 409 says what happened since, and the others of the request are acknowledged all the same.",
      input: AckBody,
    }),
    nackWebhookMessages: endOperation(service, {
      kind: "nack",
      summary: "Give messages back as failed attempts",
      description:
        "Each is due again after the delay, or after that of the retry schedule, whose length is the largest number of attempts in any case.",
      input: NackBody,
    }),
    extendWebhookMessages: operation({
      summary: "Extend leases",
      description: "Moves their ends, at most to twelve hours after the start of each.",
      auth: consume,
      audit: logged,
      input: ExtendBody,
      async act({ caller, params, input: { lease_ids: leaseIds, lease_seconds: leaseSeconds } }) {
        const found = await findPullRows(service, caller, params.id);
        if (found.outcome !== "found") return found;
        return postponeLeases(service, found.rows, leaseIds, seconds(leaseSeconds));
      },
      refusals: { ...noMessages, refused: ({ refusal }) => refusal },
      rest: {
        post: `${messages}/extend`,
        responses: { 200: ExtendedLeases, 404: "error", 409: "error", 503: "error" },
        answer: ({ leases }) =>
          ok({
            items: leases.map(({ leaseId, endsAt }) => ({ lease_id: leaseId, lease_ends_at: endsAt.toISOString() })),
          }),
      },
    }),
  };
}

interface EndOperation<Body extends typeof AckBody | typeof NackBody> {
  readonly kind: "ack" | "nack";
  readonly summary: string;
  readonly description: string;
  readonly input: Body;
}

function endOperation<Body extends typeof AckBody | typeof NackBody>(
  service: DeliveryService,
  { kind, summary, description, input }: EndOperation<Body>,
) {
  return operation({
    summary,
    description,
    auth: consume,
    audit: logged,
    input: input as typeof AckBody | typeof NackBody,
    async act({
      caller,
      params,
      input: given,
    }: OfEndpoint & { readonly input: z.output<typeof AckBody | typeof NackBody> }) {
      const found = await findPullRows(service, caller, params.id);
      if (found.outcome !== "found") return found;
      const verdict = kind === "ack" ? ({ kind } as const) : nackOf(given);
      return endLeases(service, found.rows, given.lease_ids, verdict);
    },
    refusals: { ...noMessages, refused: ({ refusal }) => refusal },
    rest: {
      post: `${messages}/${kind}`,
      responses: { 200: LeaseResults, 404: "error", 409: "error", 503: "error" },
      answer: ({ leases }) =>
        ok({
          items: leases.map(({ leaseId, decision, nextAttemptAt, repeated }) => ({
            lease_id: leaseId,
            decision,
            next_attempt_at: nextAttemptAt?.toISOString() ?? null,
            repeated,
          })),
        }),
    },
  });
}

function nackOf(given: z.output<typeof AckBody | typeof NackBody>) {
  const { delay_seconds: delay = null, reason = null } = given as Partial<z.output<typeof NackBody>>;
  return { kind: "nack", delayMs: delay === null ? null : seconds(delay), reason } as const;
}
