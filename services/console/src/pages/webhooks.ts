import type { ExpandedWebhookDelivery, WebhookEndpointInFull } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";
import type { Bucket } from "../parts/bars.tsx";
import { api, asText, withText } from "../session/api.ts";

/** Says that events were published, of whatever type; the list of events has them. */
export const publishedEvents = "subscription { eventPublished { eventId } }";

/** Answers of the API about webhooks that several pages show. */
export type Endpoint = WebhookEndpointInFull;
export type Delivery = ExpandedWebhookDelivery;

export const readEndpoint = (id: string) =>
  withText(api.GET("/api/v1/webhooks/endpoints/{id}", { params: { path: { id } }, ...asText }));

/** Read again while deliveries wait for it. */
export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: ["endpoint", id],
    queryFn: () => readEndpoint(id),
    refetchInterval: ({ state }) => {
      const { status, waiting = 0, held = 0 } = state.data?.data ?? {};
      return status === "paused" || waiting + held > 0 ? 5_000 : false;
    },
  });

/** Waiting deliveries are read again every two seconds, so that a page shows the next attempt by itself. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ["delivery", id],
    queryFn: () => api.webhookDeliveries.get(id, { expand: "event" }),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? 2_000 : false),
  });

/** The attempts of the last 24 hours by hour: of one endpoint, or of all. */
export interface Day {
  readonly buckets: readonly Bucket[];
  readonly delivered: number;
  readonly attempts: number;
  readonly p95Ms: number | null;
  readonly oldestDueAt: string | null;
  /** The first failure of an endpoint that has failed since. */
  readonly failingSince: string | null;
}

export const dayQuery = (endpointId: string | null) =>
  queryOptions({
    queryKey: ["day", endpointId],
    refetchInterval: 30_000,
    queryFn: async (): Promise<Day> => {
      const query = { bucket: "1h" as const, from: new Date(Date.now() - 24 * 3_600_000).toISOString() };
      const answer =
        endpointId === null ? api.webhooks.statistics(query) : api.webhookEndpoints.statistics(endpointId, query);
      const { items, totals, oldest_due_at: oldestDueAt, failing_since: failingSince } = await answer;
      const [total] = totals;
      return {
        buckets: items,
        delivered: total?.delivered ?? 0,
        attempts: total?.attempts ?? 0,
        // Of attempts that nobody answered it is the time of a refusal to connect.
        p95Ms: total && total.delivered > 0 ? total.p95_ms : null,
        oldestDueAt,
        failingSince,
      };
    },
  });

export const deliveryStates = ["pending", "held", "parked", "succeeded", "exhausted", "cancelled"] as const;
