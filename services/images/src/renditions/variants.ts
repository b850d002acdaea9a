import { type Clock, newId } from "@signalbox/core";
import type { Outbox, ReceivedEvent } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { RenditionStore } from "../blobs/rendition-store.ts";
import type { Deletions } from "../images/deletions.ts";
import type { Image, ImageEvents } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import { renderRequested } from "../images/render-job.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly imageStore: ImageStore;
  readonly deletions: Pick<Deletions, "removeLate">;
  readonly renditionStore: RenditionStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
  readonly attemptsMax: () => number;
}

/** A job that was sent this often, the last twenty times an hour apart, will not be answered. */
const issuesMax = 24;
/** Number of lost jobs sent in one transaction. */
const issuedTogether = 100;

export type Variants = ReturnType<typeof createVariants>;

/** The named variants of images: handles the worker's answers and jobs that it never answers. */
export function createVariants(dependencies: Dependencies) {
  const { pool, imageStore, renditionStore, outbox, events, clock } = dependencies;

  return {
    /**
     * Handles the worker's answer: an image with stored named variants becomes ready, once; a failed job is retried
     * while attempts are left, and then the image counts as failed. Answers about single renditions are only recorded.
     */
    async settle(tx: Tx, result: ReceivedEvent<"image.rendered">["data"]): Promise<void> {
      const image = await imageStore.lock(tx, result.image_id);
      if (!image) return dependencies.deletions.removeLate(tx, result.image_id);
      const now = clock.now();
      for (const stored of result.renditions) await renditionStore.save(tx, image, stored, now);
      if (result.outcome === "failed") await renditionStore.refuseJob(tx, result.job_id, now);
      if (image.status !== "processing" || result.job_id !== image.renderJobId) return;

      if (result.outcome === "rendered") {
        const placeholder = image.placeholder ?? result.placeholder;
        const dominantColor = image.dominantColor ?? result.dominant_color ?? null;
        const changed = ["status"];
        if (placeholder !== image.placeholder) changed.push("placeholder");
        if (dominantColor !== image.dominantColor) changed.push("dominant_color");
        const revision = image.revision + 1n;
        const ready = { ...image, revision, updatedAt: now, status: "ready", placeholder, dominantColor } as const;
        await imageStore.save(tx, ready);
        await outbox.append(tx, [events.renditionReady(ready, changed)]);
      } else if (result.failure?.retryable && image.renderAttempt < dependencies.attemptsMax()) {
        await issue(dependencies, tx, {
          ...image,
          renderJobId: newId("job"),
          renderAttempt: image.renderAttempt + 1,
          renderIssues: 1,
        });
      } else await fail(dependencies, tx, image, result.failure?.code ?? "unknown");
    },

    /** Sends overdue jobs again: the same jobs, since their answers may still arrive. Returns their number. */
    reissueLost: (): Promise<number> =>
      inTransaction(pool, async (tx) => {
        const lost = await imageStore.lockLost(tx, issuedTogether);
        for (const image of lost) {
          if (image.renderIssues < issuesMax)
            await issue(dependencies, tx, { ...image, renderIssues: image.renderIssues + 1 });
          else await fail(dependencies, tx, image, "lost");
        }
        return lost.length;
      }),
  };
}

async function issue({ imageStore, outbox }: Dependencies, tx: Tx, image: Image): Promise<void> {
  await imageStore.saveIssued(tx, image);
  await outbox.append(tx, [renderRequested(image)]);
}

async function fail(
  { imageStore, outbox, events, clock }: Dependencies,
  tx: Tx,
  image: Image,
  reason: string,
): Promise<void> {
  const now = clock.now();
  const failure = { status: "failed", failureCode: reason, failedAt: now } as const;
  const failed = { ...image, ...failure, revision: image.revision + 1n, updatedAt: now };
  await imageStore.save(tx, failed);
  await outbox.append(tx, [events.processingFailed(failed, reason)]);
}
