import { type Clock, minutes } from "@signalbox/core";
import type { HttpResponse } from "@signalbox/http";
import type { OutputFormat } from "@signalbox/imaging";
import {
  CountedStatistics,
  defineStatistics,
  type Edges,
  edgesOf,
  type FreshEntry,
  statistics,
} from "@signalbox/service";
import { type Pool, sql, type Tx } from "@signalbox/storage";

/** Renderings and answers: labels and counters in the order of the entries below. */
const kind = defineStatistics({
  name: "ImageStatistics",
  description: "Renditions made and responses served for an account's images in a period.",
  dimensions: { format: "The format of the rendition, such as `webp`; `original` for files as they were uploaded." },
  counters: {
    rendered: "Renditions that were made and stored, named variants included.",
    served: "Responses with content, in whole or in part.",
    not_modified: "Responses without content because the client or cache already had it.",
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

type ServedForm = OutputFormat | "original";

/** Returns what an answer with content counts for, or a 304 instead of it; null for any other. */
export function countsOf(method: string | undefined, { status, body }: HttpResponse): readonly number[] | null {
  if (method !== "GET" || status >= 400) return null;
  if (status === 304) return [0, 0, 1, 0];
  const length = body.kind === "bytes" ? body.bytes.length : body.kind === "stream" ? (body.length ?? 0) : 0;
  return [0, 1, 0, length];
}

/** Time after a purge in which an instance may still save what it counted before. */
const lateMs = minutes(1);
const purgedMax = 100;

const statements = {
  markPurged: sql(
    "statistics.mark-purged",
    "insert into purged_accounts (id, purged_at) values ($1, $2) on conflict do nothing",
  ),
  findPurged: sql("statistics.find-purged", `select id from purged_accounts order by purged_at limit ${purgedMax}`),
  endPurged: sql("statistics.end-purged", "delete from purged_accounts where id = any($1) and purged_at < $2"),
};

/**
 * The statistics of accounts' images. Renditions are counted by the statement that stores them. Answers write nothing,
 * are many, and are counted in memory.
 */
export class ImageStatistics extends CountedStatistics {
  readonly #pool: Pool;
  readonly #clock: Clock;

  constructor(pool: Pool, clock: Clock) {
    super(pool, clock);
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Counts an answer with content of an account, and returns the answer. */
  counted<A extends HttpResponse>(accountId: string, form: ServedForm, method: string | undefined, answer: A): A {
    const counts = countsOf(method, answer);
    if (counts) this.count({ accountId, subjectId: null, atMs: this.#clock.nowMs(), labels: [form], counts });
    return answer;
  }

  /** Marks a purged account, whose figures are removed after the transaction. */
  async markPurged(tx: Tx, accountId: string): Promise<void> {
    await tx.query(statements.markPurged, [accountId, this.#clock.now()]);
  }

  /** Removes the figures of purged accounts, and for a minute those that are still saved for them. */
  async removePurged(): Promise<void> {
    const settledBefore = new Date(this.#clock.nowMs() - lateMs);
    const { rows } = await this.#pool.query<{ id: string }>(statements.findPurged);
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    for (const id of ids) while ((await this.stored.remove(id)) === "again");
    await this.#pool.query(statements.endPurged, [ids, settledBefore]);
  }
}

/** The statistics of an account's images, at both edges. */
export function statisticsApi({ stored }: ImageStatistics, clock: Clock): Edges {
  const declared = {
    imageStatistics: statistics({
      summary: "Read the statistics of images",
      description:
        "Renditions and responses by time and format, for all images of the account, including deleted ones. Responses to other callers count for the owner.",
      auth: { scopes: ["images:read"] },
      kind,
      statistics: stored,
      clock,
      rest: { get: "/images/statistics" },
      graph: { field: "imageStatistics" },
    }),
  };
  return edgesOf(declared, { errors: "image" });
}
