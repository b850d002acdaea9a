import type { Caller } from "@signalbox/auth";
import { viewOf, webhookEndpointExample } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { createRoutes, keptOpen, ok, type Refusal, refusedWith } from "@signalbox/http";
import { type Edges, edgesOf, joinEdges, operation } from "@signalbox/service";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type EndedLease, endLeases, postponeLeases } from "./end-leases.ts";
import { declareListening } from "./listening.ts";
import { streamMessages } from "./message-stream.ts";
import {
  AckBody,
  ExtendBody,
  ExtendedLeases,
  LeaseResult,
  LeaseResults,
  MessagesResource,
  NackBody,
  PollQuery,
} from "./pull-message.ts";
import { findPullRows, pollMessages, requireWait } from "./pull-messages.ts";
import type { PullRow } from "./pull-queue.ts";

const messages = "/api/v1/webhooks/endpoints/:id/messages" as const;
/** Taking a message changes it, so that reading rights are not enough. */
const consume = { scopes: ["webhooks:write"], access: "write" } as const;
const logged = { unaudited: "Every lease is recorded in the log of attempts." } as const;

export const noMessages = {
  missing: { code: "not_found", message: "There is no such endpoint." },
  push: { code: "conflict", message: "This is a push endpoint: its messages are posted to its URL." },
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

const viewEndedLease = viewOf(LeaseResult, (_: EndedLease) => ({}));

const eventStream = /(^|,)\s*text\/event-stream\s*(;|,|$)/i;
/** nginx passes events on without buffering. */
const streamAnswer = { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } };

function pollRoute(service: DeliveryService) {
  const routes = createRoutes({ exampleIds });
  routes.get(messages, {
    operationId: "webhookMessages",
    summary: "Lease messages of a pull endpoint",
    description:
      "Each message has the body and the headers that a push would have. Acknowledge it before `lease_ends_at`: a lease that expires counts as a failed attempt. If no message is due, the answer waits for one, at most `wait_seconds`, and may be empty. With `Accept: text/event-stream` messages come as server-sent events `message`, with at most `credit` unacknowledged at a time, until an event `end` asks the client to open a new stream.",
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
      const items = (await pollMessages(service, row, terms, signal)).map(({ message }) => message);
      return ok({ items });
    },
  });
  return routes;
}

function declareEnds(service: DeliveryService) {
  async function rowsThen<Ended>(caller: Caller, id: string, end: (rows: readonly PullRow[]) => Promise<Ended>) {
    const found = await findPullRows(service, caller, id);
    return found.outcome === "found" ? end(found.rows) : found;
  }
  const shared = {
    auth: consume,
    audit: logged,
    refusals: { ...noMessages, refused: ({ refusal }: { readonly refusal: Refusal }) => refusal },
  };
  const errors = { 404: "error", 409: "error", 503: "error" } as const;
  const ends = {
    responses: { 200: LeaseResults, ...errors },
    answer: ({ leases }: { readonly leases: readonly EndedLease[] }) =>
      ok({ items: leases.map((lease) => viewEndedLease(lease)) }),
  };
  return {
    ackWebhookMessages: operation({
      ...shared,
      summary: "Acknowledge messages",
      description:
        "Marks them as delivered. Acknowledging a lease again is not an error. For leases that ended in another way, 409 says what happened; the other leases of the request are still acknowledged.",
      input: AckBody,
      act: ({ caller, params, input }) =>
        rowsThen(caller, params.id, (rows) => endLeases(service, rows, input.lease_ids, { kind: "ack" })),
      rest: { post: `${messages}/ack`, ...ends },
    }),
    nackWebhookMessages: operation({
      ...shared,
      summary: "Return messages as failed attempts",
      description:
        "Each is due again after the given delay or that of the retry schedule. The length of the schedule limits the number of attempts either way.",
      input: NackBody,
      act: ({ caller, params, input: { lease_ids: leaseIds, delay_seconds: delay, reason } }) =>
        rowsThen(caller, params.id, (rows) => {
          const delayMs = delay === null ? null : seconds(delay);
          return endLeases(service, rows, leaseIds, { kind: "nack", delayMs, reason });
        }),
      rest: { post: `${messages}/nack`, ...ends },
    }),
    extendWebhookMessages: operation({
      ...shared,
      summary: "Extend leases",
      description: "Extends each lease, at most to twelve hours after its start.",
      input: ExtendBody,
      act: ({ caller, params, input: { lease_ids: leaseIds, lease_seconds: leaseSeconds } }) =>
        rowsThen(caller, params.id, (rows) => postponeLeases(service, rows, leaseIds, seconds(leaseSeconds))),
      rest: {
        post: `${messages}/extend`,
        responses: { 200: ExtendedLeases, ...errors },
        answer: ({ leases }) =>
          ok({
            items: leases.map(({ leaseId, endsAt }) => ({ lease_id: leaseId, lease_ends_at: endsAt.toISOString() })),
          }),
      },
    }),
  };
}
