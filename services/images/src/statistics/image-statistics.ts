import { type Clock, minutes } from "@signalbox/core";
import { defineStatistics, type Edges, edgesOf, statistics } from "@signalbox/service";
import { createFigureCounter, createStatistics, type FreshEntry, type Pool, sql, type Tx } from "@signalbox/storage";
import { createServedCounter } from "./served-counter.ts";

/** Renderings and answers: labels and counters in the order of the entries here and of `served-counter.ts`. */
const kind = defineStatistics({
  name: "ImageStatistics",
  dimensions: { format: "The format of the rendition, such as `webp`; `original` for files as they were uploaded." },
  counters: {
    rendered: "Renditions that were made and stored, named variants included.",
    served: "Answers with content, in whole or in part.",
    not_modified: "Answers without content because the client or cache already had it.",
    bytes: "Bytes of the content that was served.",
  },
  example: { format: "webp", rendered: 12, served: 3400, not_modified: 210, bytes: 81_600_000 },
});

/** Returns what a stored rendition counts for. */
export const renderedEntry = (accountId: string, mimeType: string, at: Date): FreshEntry => ({
  accountId,
  subjectId: null,
  atMs: at.getTime(),
  labels: [mimeType.replace("image/", "")],
  counts: [1, 0, 0, 0],
});

/** Time after a purge in which an instance may still save what it counted before. */
const lateMs = minutes(1);
const purgedMax = 100;

const markPurged = sql(
  "statistics.mark-purged",
  "insert into purged_accounts (id, purged_at) values ($1, $2) on conflict do nothing",
);
const findPurged = sql(
  "statistics.find-purged",
  `select id from purged_accounts order by purged_at limit ${purgedMax}`,
);
const endPurged = sql("statistics.end-purged", "delete from purged_accounts where id = any($1) and purged_at < $2");

export type ImageStatistics = ReturnType<typeof createImageStatistics>;

/**
 * Creates the statistics of an account's images. Renditions are counted by the statement that stores them. Answers write
 * nothing, are many, and are counted in memory.
 */
export function createImageStatistics({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }) {
  const figures = createStatistics({ pool, clock });
  const counter = createFigureCounter(pool);
  const served = createServedCounter({ clock, count: counter.count });
  return {
    read: figures.read,
    step: figures.step,
    counted: served.counted,

    async save(): Promise<void> {
      served.handOn();
      await counter.save();
    },

    /** Marks a purged account, whose figures are removed after the transaction. */
    markPurged: async (tx: Tx, accountId: string): Promise<void> =>
      void (await tx.query(markPurged, [accountId, clock.now()])),

    /** Removes the figures of purged accounts, and for a minute those that are still saved for them. */
    async removePurged(): Promise<void> {
      const settledBefore = new Date(clock.nowMs() - lateMs);
      const { rows } = await pool.query<{ id: string }>(findPurged);
      if (rows.length === 0) return;
      const ids = rows.map(({ id }) => id);
      for (const id of ids) while ((await figures.remove(id)) === "again");
      await pool.query(endPurged, [ids, settledBefore]);
    },
  };
}

export interface StatisticsApi {
  readonly imageStatistics: Pick<ImageStatistics, "read">;
  readonly clock: Clock;
}

/** The statistics of an account's images, at both edges. */
export function statisticsApi({ imageStatistics, clock }: StatisticsApi): Edges {
  const declared = {
    imageStatistics: statistics({
      summary: "Read the statistics of images",
      description:
        "Renditions and answers by time and format, over all images of the account, deleted ones included. What others were shown counts for the owner.",
      auth: { scopes: ["images:read"] },
      kind,
      statistics: imageStatistics,
      clock,
      rest: { get: "/images/statistics" },
      graph: { field: "imageStatistics" },
    }),
  };
  return edgesOf(declared, { errors: "image" });
}
