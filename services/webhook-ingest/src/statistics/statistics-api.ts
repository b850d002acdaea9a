import { webhookSourceExample } from "@signalbox/contracts";
import { defineStatistics, type Edges, edgesOf, statistics } from "@signalbox/service";
import type { IngestService } from "../context/ingest-service.ts";
import { ownSource } from "../sources/own-source.ts";

/** Webhooks by their arrival: labels and counters in the order of the entries that `SourceStatistics` counts. */
const kind = defineStatistics({
  name: "WebhookSourceStatistics",
  description: "Webhooks that a source, or all sources of an account, received in a time.",
  dimensions: {
    type: "The type that the partner gave to the event.",
    reason: "The reason of a refusal, as a stable word.",
  },
  counters: {
    accepted: "Webhooks that were received.",
    duplicates: "Repetitions of webhooks that had been received.",
    rejected: "Webhooks that were refused.",
    filtered: "Webhooks of a type outside `event_types`, which were answered 202 and not stored.",
  },
  example: { type: "orders/create", reason: null, accepted: 120, duplicates: 2, rejected: 0, filtered: 0 },
});

export function statisticsApi(service: IngestService): Edges {
  const { sourceStatistics, clock } = service;
  const shared = { auth: { scopes: ["webhooks:read"] }, kind, statistics: sourceStatistics.stored, clock } as const;
  const declared = {
    webhookSourceStatistics: statistics({
      ...shared,
      summary: "Read the statistics of a source",
      description: "Webhooks by time, type and reason. Accepted ones are counted exactly, as they are stored.",
      of: ownSource(service),
      rest: { get: "/api/v1/webhooks/sources/:id/statistics" },
      graph: { field: "statistics" },
    }),
    allWebhookSourceStatistics: statistics({
      ...shared,
      summary: "Read the statistics of all sources",
      description: "Webhooks by time, type and reason, over all sources of the account, deleted ones included.",
      rest: { get: "/api/v1/webhooks/sources/statistics" },
      graph: { field: "webhookSourceStatistics" },
    }),
  };
  return edgesOf(declared, { exampleIds: { id: webhookSourceExample.id } });
}
