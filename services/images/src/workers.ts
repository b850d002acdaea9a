import { type Clock, minutes, seconds } from "@signalbox/core";
import type { Runner, WakeUp } from "@signalbox/runtime";
import { type Pool, startRetention, statisticsRetention } from "@signalbox/storage";
import type { Blobs } from "./blobs/blobs.ts";
import type { Deletions } from "./deletions/deletions.ts";
import type { DirectUploads } from "./direct-uploads/direct-uploads.ts";
import type { Variants } from "./renditions/variants.ts";
import type { ImageStatistics } from "./statistics/image-statistics.ts";

interface Dependencies {
  readonly blobs: Pick<Blobs, "sweep" | "sweepReleased">;
  readonly deletions: Pick<Deletions, "eraseNext">;
  readonly directUploads: Pick<DirectUploads, "sweepNext">;
  readonly variants: Pick<Variants, "reissueLost">;
  /** Woken when bytes of a deleted image wait for erasure. */
  readonly eraseWakeUp: WakeUp;
  /** Woken when bytes of an upload are no longer needed. */
  readonly sweepWakeUp: WakeUp;
  /** Time after which an unanswered render job counts as lost. */
  readonly lostAfterMs: () => number;
}

interface StatisticsDependencies {
  readonly runner: Runner;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly imageStatistics: Pick<ImageStatistics, "step" | "save" | "removePurged">;
}

/** Interval between saves of the counts in memory, which a killed instance loses since the last one. */
const saveCountsEveryMs = seconds(5);
const sweepEveryMs = minutes(5);
const reissueEveryMs = seconds(20);

const more = (isMore: boolean) => (isMore ? "again" : "done");

/** Starts the background work of this service: bytes that nobody needs, and render jobs that nobody answered. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { blobs, deletions, directUploads, variants, eraseWakeUp, sweepWakeUp, lostAfterMs } = dependencies;
  runner.housekeeping("sweep blobs", sweepEveryMs, async (signal) => more((await blobs.sweep(signal)) > 0));
  runner.every("erase deleted images", eraseWakeUp, async (signal) =>
    more((await deletions.eraseNext()) || (await blobs.sweepReleased(signal)) > 0),
  );
  runner.every("sweep direct uploads", sweepWakeUp, async () => more(await directUploads.sweepNext()));
  runner.every(
    "reissue lost render jobs",
    () => Math.min(reissueEveryMs, lostAfterMs()),
    async () => more((await variants.reissueLost()) > 0),
  );
}

/** Starts what keeps the statistics: saves, folds and trims them, and removes those of purged accounts. */
export function startStatistics({ runner, pool, clock, imageStatistics }: StatisticsDependencies): void {
  runner.defer("image statistics", () => imageStatistics.save());
  runner.every("counts of images", saveCountsEveryMs, () => imageStatistics.save());
  runner.every("statistics", seconds(2), () => imageStatistics.step());
  runner.every("statistics of purged accounts", seconds(5), () => imageStatistics.removePurged());
  startRetention({ runner, pool, clock }, [statisticsRetention]);
}
