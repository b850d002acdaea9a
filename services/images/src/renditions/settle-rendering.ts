import { type Clock, newId } from "@signalbox/core";
import type { Outbox, ReceivedEvent } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { Image } from "../images/image.ts";
import type { ImageEvents } from "../images/image-events.ts";
import type { ImageStore } from "../images/image-store.ts";
import { renderRequested } from "./render-job.ts";
import type { RenditionStore } from "./rendition-store.ts";

interface Dependencies {
  readonly images: ImageStore;
  readonly renditions: RenditionStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
  readonly attemptsMax: () => number;
}

type Result = ReceivedEvent<"image.rendered">["data"];

/**
 * Takes the worker's answer: an image whose named variants are stored becomes ready, once; a job that failed is asked for
 * again while attempts are left, and then the image counts as failed. Answers about single renditions are only noted.
 */
export function createSettleRendering({ images, renditions, outbox, events, clock, attemptsMax }: Dependencies) {
  return async function settleRendering(tx: Tx, result: Result): Promise<void> {
    const image = await images.lock(tx, result.image_id);
    if (!image) return;
    for (const stored of result.renditions) await renditions.markStored(tx, image.sha256, stored, clock.now());
    if (image.status !== "processing" || result.job_id !== image.renderJobId) return;

    if (result.outcome === "rendered") {
      const placeholder = image.placeholder ?? result.placeholder;
      const changed = placeholder === image.placeholder ? ["status"] : ["status", "placeholder"];
      const ready = changedNow(image, { status: "ready", placeholder });
      await images.save(tx, ready);
      await outbox.append(tx, [events.renditionReady(ready, changed)]);
    } else if (result.failure?.retryable && image.renderAttempt < attemptsMax()) {
      const again = { ...image, renderJobId: newId("job"), renderAttempt: image.renderAttempt + 1 };
      await images.save(tx, again);
      await outbox.append(tx, [renderRequested(again)]);
    } else {
      const failed = changedNow(image, { status: "failed" });
      await images.save(tx, failed);
      await outbox.append(tx, [events.processingFailed(failed, result.failure?.code ?? "unknown")]);
    }
  };

  function changedNow(image: Image, change: Partial<Image>): Image {
    return { ...image, ...change, revision: image.revision + 1n, updatedAt: clock.now() };
  }
}
