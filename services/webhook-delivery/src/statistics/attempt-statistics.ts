import { timestamp, webhookEndpointExample } from "@signalbox/contracts";
import { defineStatistics, type Edges, edgesOf, statistics } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";

/** Attempts by their ends: labels and counters in the order of `entryOf` in `record-results.ts`. */
const kind = defineStatistics({
  name: "WebhookStatistics",
  description: "Attempts of an endpoint, or of all endpoints of an account, in a period.",
  dimensions: {
    type: "The type of the event.",
    status_class: "`2xx` to `5xx`, or `none` if there was no response.",
    error: "Why there was no response, as a stable code.",
  },
  counters: {
    attempts: "Attempts that ended, tests included. Attempts that ended after their lease expired are not counted.",
    delivered: "Attempts that succeeded.",
    failed: "Attempts that failed.",
    exhausted: "Failed attempts that were the last of their delivery.",
  },
  times: "the attempts",
  current: {
    oldest_due_at: timestamp
      .nullable()
      .describe("The time at which the oldest waiting delivery was due; null for none."),
    failing_since: timestamp
      .nullable()
      .describe("The first failure of an endpoint that has been failing since; null for none."),
  },
  example: {
    type: "order.paid",
    status_class: "2xx",
    error: null,
    attempts: 120,
    delivered: 120,
    failed: 0,
    exhausted: 0,
    p50_ms: 84.2,
    p95_ms: 212.6,
    p99_ms: 340.1,
  },
});

/** Named consumers count at their endpoint. */
export const livingEndpoints = sql(
  "statistics.living",
  "select id from endpoints where id = any($1) and deleted_at is null",
);
const readCurrent = sql(
  "statistics.current",
  `select min(first.due_at) as "oldestDueAt", min(h.failing_since) as "failingSince"
   from endpoints as p
   left join lateral (
     select due_at from delivery_queue where endpoint_id = p.id and due_at < statement_timestamp() order by due_at limit 1
   ) as first on true
   left join endpoint_health as h on h.endpoint_id = p.id
   where p.account_id = $1 and p.deleted_at is null and ($2::text is null or p.id = $2 or p.consumer_of = $2)`,
);

async function currentFigures({ pool }: DeliveryService, accountId: string, endpointId: string | null) {
  const none: Readonly<Record<"oldestDueAt" | "failingSince", Date | null>> = { oldestDueAt: null, failingSince: null };
  return (await pool.query<typeof none>(readCurrent, [accountId, endpointId])).rows[0] ?? none;
}

export function statisticsApi(service: DeliveryService): Edges {
  const shared = {
    auth: { scopes: ["webhooks:read"] },
    kind,
    statistics: service.statistics,
    clock: service.clock,
    current: (accountId: string, endpointId: string | null) => currentFigures(service, accountId, endpointId),
  } as const;
  return edgesOf(
    {
      webhookEndpointStatistics: statistics({
        ...shared,
        auth: { ...shared.auth, portal: true },
        summary: "Read the statistics of an endpoint",
        description:
          "Attempts by time, type, status class and error: exact counts, and times within 2 %. Named consumers of a pull endpoint count with it; their times are those of leases.",
        of: {
          type: "WebhookEndpoint",
          find: ({ caller, params }) => findEndpoint(service.pool, caller, params.id),
          missing: "There is no such endpoint.",
        },
        rest: { get: "/api/v1/webhooks/endpoints/:id/statistics" },
        graph: { field: "statistics" },
      }),
      webhookStatistics: statistics({
        ...shared,
        summary: "Read the statistics of all endpoints",
        description:
          "Attempts by time, type, status class and error, over all endpoints of the account, including deleted ones.",
        rest: { get: "/api/v1/webhooks/statistics" },
        graph: { field: "webhookStatistics" },
      }),
    },
    { exampleIds: { id: webhookEndpointExample.id } },
  );
}
