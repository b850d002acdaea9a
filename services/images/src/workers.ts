import { minutes, seconds } from "@signalbox/core";
import type { Runner, WakeUp } from "@signalbox/runtime";
import type { Blobs } from "./blobs/blobs.ts";
import type { DirectUploads } from "./direct-uploads/direct-uploads.ts";
import type { Deletions } from "./images/deletions.ts";
import type { Variants } from "./renditions/variants.ts";
import type { ImageStatistics } from "./statistics/image-statistics.ts";

interface Dependencies {
  readonly blobs: Pick<Blobs, "sweep" | "sweepReleased">;
  readonly deletions: Pick<Deletions, "eraseNext">;
  readonly directUpload: {
    readonly directUploads: Pick<DirectUploads, "sweepNext">;
    /** Woken when bytes of an upload are no longer needed. */
    readonly sweepWakeUp: WakeUp;
  };
  readonly variants: Pick<Variants, "reissueLost">;
  readonly imageStatistics: Pick<ImageStatistics, "removePurged">;
  /** Woken when bytes of a deleted image wait for erasure. */
  readonly eraseWakeUp: WakeUp;
  /** Time after which an unanswered render job counts as lost. */
  readonly lostAfterMs: () => number;
}

const sweepEveryMs = minutes(5);
const reissueEveryMs = seconds(20);

const more = (isMore: boolean) => (isMore ? "again" : "done");

/** Starts the background work of this service: what nobody needs any more, and render jobs that nobody answered. */
export function startWorkers(runner: Runner, dependencies: Dependencies): void {
  const { blobs, deletions, variants, imageStatistics, eraseWakeUp, lostAfterMs } = dependencies;
  const { directUploads, sweepWakeUp } = dependencies.directUpload;
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
  runner.every("statistics of purged accounts", seconds(5), () => imageStatistics.removePurged());
}
