import { setTimeout as sleep } from "node:timers/promises";
import { minutes } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { SweepBlobs } from "./blobs/sweep-blobs.ts";

const sweepEveryMs = minutes(5);

/** The long-running parts that are this service's own. */
export function startWorkers(
  runner: Pick<Runner, "worker">,
  { sweepBlobs }: { readonly sweepBlobs: SweepBlobs },
): void {
  runner.worker("sweep blobs", async (signal, beat) => {
    while (!signal.aborted) {
      while ((await sweepBlobs(signal)) > 0 && !signal.aborted) beat();
      beat();
      await sleep(sweepEveryMs, undefined, { signal }).catch(() => {});
    }
  });
}
