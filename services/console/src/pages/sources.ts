import type { WebhookSourceInFull } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";
import type { Tone } from "../parts/inline.tsx";
import { api, asText, dataOf, versioned } from "../session/api.ts";

/** Answers of the API about sources that several pages show. */
export type Source = WebhookSourceInFull;

export const readSource = (id: string) =>
  versioned(api.GET("/api/v1/webhooks/sources/{id}", { params: { path: { id } }, ...asText }));

export const sourceQuery = (id: string) => queryOptions({ queryKey: ["source", id], queryFn: () => readSource(id) });

/** The sources of the account by name, for lists to choose from. */
export const sourceNamesQuery = queryOptions({
  queryKey: ["sources", "names"],
  queryFn: async () => (await dataOf(api.GET("/api/v1/webhooks/sources", { params: { query: { limit: 100 } } }))).items,
});

interface Counts {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly filtered: number;
}

type Hour = Counts & { readonly start: string };

/** The webhooks of the last 24 hours by hour. */
export interface SourceDay extends Counts {
  readonly buckets: readonly Hour[];
}

export const sourceDayQuery = (id: string) =>
  queryOptions({
    queryKey: ["source-day", id],
    refetchInterval: 30_000,
    queryFn: async (): Promise<SourceDay> => {
      const query = { bucket: "1h" as const, from: new Date(Date.now() - 24 * 3_600_000).toISOString() };
      const params = { path: { id }, query };
      const { items, totals } = await dataOf(api.GET("/api/v1/webhooks/sources/{id}/statistics", { params }));
      const [sums = { accepted: 0, duplicates: 0, rejected: 0, filtered: 0 }] = totals;
      return { buckets: items, ...sums };
    },
  });

export const sourceTones: Readonly<Record<Source["status"], Tone>> = { active: "good", paused: "wait", stopped: "off" };

/** The kinds of webhooks that the bars of a source show. */
export const webhookSeries = [
  { name: "accepted", kind: "ok", count: ({ accepted }: Hour) => accepted },
  { name: "duplicates", kind: "again", count: ({ duplicates }: Hour) => duplicates },
  { name: "rejected", kind: "no", count: ({ rejected }: Hour) => rejected },
] as const;
