import { minutes, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { releasedBefore, sweepBlobs } from "./blobs/blobs.ts";
import type { ImagesService } from "./context/images-service.ts";
import { sweepNextDirectUpload } from "./direct-uploads/direct-uploads.ts";
import { eraseNextImage } from "./images/deletions.ts";
import { reissueLostJobs } from "./renditions/variants.ts";

const sweepEveryMs = minutes(5);
const reissueEveryMs = seconds(20);

const more = (isMore: boolean) => (isMore ? "again" : "done");

/** Starts the background work of this service: what nobody needs any more, and render jobs that nobody answered. */
export function startWorkers(runner: Runner, service: ImagesService): void {
  const { configuration, pool, objects, clock, imageStatistics, eraseWakeUp, sweepUploadsWakeUp } = service;
  runner.housekeeping("sweep blobs", sweepEveryMs, async (signal) => {
    const before = new Date(clock.nowMs() - configuration.get("images.sweep.grace"));
    return more((await sweepBlobs(pool, objects, before, signal)) > 0);
  });
  runner.every("erase deleted images", eraseWakeUp, async (signal) =>
    more((await eraseNextImage(service)) || (await sweepBlobs(pool, objects, releasedBefore, signal)) > 0),
  );
  runner.every("sweep direct uploads", sweepUploadsWakeUp, async () => more(await sweepNextDirectUpload(service)));
  runner.every(
    "reissue lost render jobs",
    () => Math.min(reissueEveryMs, configuration.get("images.render.lost-after")),
    async () => more((await reissueLostJobs(service)) > 0),
  );
  runner.every("statistics of purged accounts", seconds(5), () => imageStatistics.removePurged());
}
