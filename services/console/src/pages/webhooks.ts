import { queryOptions } from "@tanstack/react-query";
import type { Bucket } from "../parts/bars.tsx";
import type { Tone } from "../parts/inline.tsx";
import { api, asText, dataOf, versioned } from "../session/api.ts";

/** Says that events were published, of whatever type; the list of events has them. */
export const publishedEvents = "subscription { eventPublished { eventId } }";

/** Answers of the API about webhooks that several pages show. */
export type Endpoint = Awaited<ReturnType<typeof readEndpoint>>["data"];
export type Delivery = Awaited<ReturnType<typeof readDelivery>>;

export const readEndpoint = (id: string) =>
  versioned(api.GET("/api/v1/webhooks/endpoints/{id}", { params: { path: { id } }, ...asText }));

const readDelivery = (id: string) =>
  dataOf(api.GET("/api/v1/webhooks/deliveries/{id}", { params: { path: { id }, query: { expand: "event" } } }));

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
    queryFn: () => readDelivery(id),
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
        endpointId === null
          ? api.GET("/api/v1/webhooks/statistics", { params: { query } })
          : api.GET("/api/v1/webhooks/endpoints/{id}/statistics", { params: { path: { id: endpointId }, query } });
      const { items, totals, oldest_due_at: oldestDueAt, failing_since: failingSince } = await dataOf(answer);
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

export const endpointTones: Readonly<Record<Endpoint["status"], Tone>> = {
  enabled: "good",
  paused: "wait",
  disabled: "off",
};

export const deliveryTones: Readonly<Record<Delivery["status"], Tone>> = {
  pending: "wait",
  held: "wait",
  parked: "wait",
  succeeded: "good",
  exhausted: "failed",
  cancelled: "off",
};
