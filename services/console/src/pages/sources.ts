import type { WebhookSourceInFull, WebhookSourceStatistics } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";
import { api, asText, withText } from "../session/api.ts";

/** Answers of the API about sources that several pages show. */
export type Source = WebhookSourceInFull;

export const readSource = (id: string) =>
  withText(api.GET("/api/v1/webhooks/sources/{id}", { params: { path: { id } }, ...asText }));

export const sourceQuery = (id: string) => queryOptions({ queryKey: ["source", id], queryFn: () => readSource(id) });

/** The sources of the account by name, for lists to choose from. */
export const sourceNamesQuery = queryOptions({
  queryKey: ["sources", "names"],
  queryFn: async () => (await api.webhookSources.list({ limit: 100 })).items,
});

type Hour = WebhookSourceStatistics["items"][number];

/** The webhooks of the last 24 hours by hour. */
export interface SourceDay extends Pick<Hour, "accepted" | "duplicates" | "rejected" | "filtered"> {
  readonly buckets: readonly Hour[];
}

export const sourceDayQuery = (id: string) =>
  queryOptions({
    queryKey: ["source-day", id],
    refetchInterval: 30_000,
    queryFn: async (): Promise<SourceDay> => {
      const query = { bucket: "1h" as const, from: new Date(Date.now() - 24 * 3_600_000).toISOString() };
      const { items, totals } = await api.webhookSources.statistics(id, query);
      const [sums = { accepted: 0, duplicates: 0, rejected: 0, filtered: 0 }] = totals;
      return { buckets: items, ...sums };
    },
  });

export const sourceStates = ["active", "paused", "stopped"] as const;

/** The kinds of webhooks that the bars of a source show. */
export const webhookSeries = [
  { name: "accepted", kind: "ok", count: ({ accepted }: Hour) => accepted },
  { name: "duplicates", kind: "again", count: ({ duplicates }: Hour) => duplicates },
  { name: "rejected", kind: "no", count: ({ rejected }: Hour) => rejected },
] as const;
