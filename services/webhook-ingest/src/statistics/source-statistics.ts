import { webhookSourceExample } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { defineStatistics, type Edges, edgesOf, statistics } from "@signalbox/service";
import { createFigureCounter, createStatistics, type FreshEntry, type Pool, sql } from "@signalbox/storage";
import type { Delivery } from "../receiving/delivery.ts";
import { missingSource, type Source } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";

/** Webhooks by their arrival: labels and counters in the order of the entries below. */
const kind = defineStatistics({
  name: "WebhookSourceStatistics",
  dimensions: {
    type: "The type that the partner gave to the event.",
    reason: "The reason of a refusal, as a stable word.",
  },
  counters: {
    accepted: "Webhooks that were received.",
    duplicates: "Repetitions of webhooks that had been received.",
    rejected: "Webhooks that were refused.",
  },
  example: { type: "orders/create", reason: null, accepted: 120, duplicates: 2, rejected: 0 },
});

/** Returns what a delivery counts for once it is stored. */
export const acceptedEntry = ({ source, eventType, receivedAt }: Delivery): FreshEntry => ({
  accountId: source.accountId,
  subjectId: source.id,
  atMs: receivedAt.getTime(),
  labels: [eventType?.value ?? null, null],
  counts: [1, 0, 0],
});

const findLiving = sql("statistics.living", "select id from sources where id = any($1)");

export type SourceStatistics = ReturnType<typeof createSourceStatistics>;

/**
 * Creates the statistics of sources. What is stored is counted by the statement that stores it. Repetitions and
 * refusals write nothing, come at any rate from anybody, and are counted in memory.
 */
export function createSourceStatistics({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }) {
  const counter = createFigureCounter(pool);
  return {
    ...createStatistics({ pool, clock, livingSubjects: findLiving }),
    save: () => counter.save(),

    countDuplicate: (delivery: Delivery): void => counter.count({ ...acceptedEntry(delivery), counts: [0, 1, 0] }),

    countRejection({ id, accountId }: Pick<Source, "id" | "accountId">, reason: string): void {
      const place = { accountId, subjectId: id, atMs: clock.nowMs() };
      counter.count({ ...place, labels: [null, reason], counts: [0, 0, 1] });
    },
  };
}

export interface StatisticsApi {
  readonly sourceStatistics: Pick<SourceStatistics, "read">;
  readonly sourceStore: SourceStore;
  readonly clock: Clock;
}

/** The statistics of an account's sources, at both edges. */
export function statisticsApi({ sourceStatistics, sourceStore, clock }: StatisticsApi): Edges {
  const shared = { auth: { scopes: ["webhooks:read"] }, kind, statistics: sourceStatistics, clock } as const;
  const declared = {
    webhookSourceStatistics: statistics({
      ...shared,
      summary: "Read the statistics of a source",
      description: "Webhooks by time, type and reason. Accepted ones are counted exactly, as they are stored.",
      of: {
        type: "WebhookSource",
        find: ({ caller, params }) => sourceStore.find(caller.accountId, params.id),
        missing: missingSource,
      },
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
