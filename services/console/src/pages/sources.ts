import type { WebhookSourceInFull } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";
import type { Tone } from "../parts/inline.tsx";
import { api, versioned } from "../session/api.ts";

/** Answers of the API about sources that several pages show. */
export type Source = WebhookSourceInFull;

export const readSource = (id: string) =>
  versioned(api.GET("/api/v1/webhooks/sources/{id}", { params: { path: { id } } }));

export const sourceQuery = (id: string) => queryOptions({ queryKey: ["source", id], queryFn: () => readSource(id) });

/** The sources of the account by name, for lists to choose from. */
export const sourceNamesQuery = queryOptions({
  queryKey: ["sources", "names"],
  queryFn: async () =>
    (await versioned(api.GET("/api/v1/webhooks/sources", { params: { query: { limit: 100 } } }))).data.items,
});

/** The webhooks of the last 24 hours by hour. */
export interface SourceDay {
  readonly buckets: ReadonlyArray<{
    readonly start: string;
    readonly accepted: number;
    readonly duplicates: number;
    readonly rejected: number;
  }>;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
}

export const sourceDayQuery = (id: string) =>
  queryOptions({
    queryKey: ["source-day", id],
    refetchInterval: 30_000,
    queryFn: async (): Promise<SourceDay> => {
      const query = { bucket: "1h" as const, from: new Date(Date.now() - 24 * 3_600_000).toISOString() };
      const params = { path: { id }, query };
      const { items, totals } = (await versioned(api.GET("/api/v1/webhooks/sources/{id}/statistics", { params }))).data;
      const [{ accepted, duplicates, rejected } = { accepted: 0, duplicates: 0, rejected: 0 }] = totals;
      return { buckets: items, accepted, duplicates, rejected };
    },
  });

export const sourceTones: Readonly<Record<Source["status"], Tone>> = { active: "good", paused: "wait", stopped: "off" };

/** The hours of the last day of a source without a webhook are filled with this. */
export const noWebhooks = (start: string): SourceDay["buckets"][number] => ({
  start,
  accepted: 0,
  duplicates: 0,
  rejected: 0,
});

/** The kinds of webhooks that the bars of a source show. */
export const webhookSeries = [
  { name: "accepted", kind: "ok", count: ({ accepted }: SourceDay["buckets"][number]) => accepted },
  { name: "duplicates", kind: "again", count: ({ duplicates }: SourceDay["buckets"][number]) => duplicates },
  { name: "rejected", kind: "no", count: ({ rejected }: SourceDay["buckets"][number]) => rejected },
] as const;
