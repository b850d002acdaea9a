import type { Clock } from "@signalbox/core";
import { CountedStatistics } from "@signalbox/service";
import { type Pool, sql } from "@signalbox/storage";
import { acceptedEntry, type ReceivedWebhook } from "../received/received-webhook.ts";
import type { Source } from "../sources/source.ts";

const findLiving = sql("statistics.living", "select id from sources where id = any($1)");

/** The statistics of sources. Repetitions and refusals write nothing, so that they are counted in memory. */
export class SourceStatistics extends CountedStatistics {
  readonly #clock: Clock;

  constructor(pool: Pool, clock: Clock) {
    super(pool, clock, findLiving);
    this.#clock = clock;
  }

  countDuplicate(webhook: ReceivedWebhook): void {
    this.count({ ...acceptedEntry(webhook), counts: [0, 1, 0, 0] });
  }

  countFiltered({ id, accountId }: Source, eventType: string | null): void {
    const place = { accountId, subjectId: id, atMs: this.#clock.nowMs() };
    this.count({ ...place, labels: [eventType, null], counts: [0, 0, 0, 1] });
  }

  countRejection({ id, accountId }: Source, reason: string): void {
    const place = { accountId, subjectId: id, atMs: this.#clock.nowMs() };
    this.count({ ...place, labels: [null, reason], counts: [0, 0, 1, 0] });
  }
}
