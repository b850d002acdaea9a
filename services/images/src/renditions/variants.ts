import { newId } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import { inTransaction, type Tx } from "@signalbox/storage";
import { refuseRenditionJob, saveRendition } from "../blobs/rendition-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import { removeLateRenditions } from "../images/deletions.ts";
import { processingFailed, renditionReady } from "../images/image-events.ts";
import type { Image } from "../state/image.ts";
import { renderRequested } from "../state/render-job.ts";

type RenderedJob = ReceivedEvent<"image.rendered">["data"];

/** A job that was sent this often, the last twenty times an hour apart, will not be answered. */
const issuesMax = 24;
/** Number of lost jobs sent in one transaction. */
const issuedTogether = 100;

/**
 * Handles the worker's answer: an image with stored named variants becomes ready, once; a failed job is retried while
 * attempts are left, and then the image counts as failed. Answers about single renditions are only recorded.
 */
export async function settleVariants(service: ImagesService, tx: Tx, result: RenderedJob): Promise<void> {
  const { configuration, imageStore, clock } = service;
  const image = await imageStore.lock(tx, result.image_id);
  if (!image) return removeLateRenditions(service, tx, result.image_id);
  const now = clock.now();
  for (const stored of result.renditions) await saveRendition(tx, image, stored, now);
  if (result.outcome === "failed") await refuseRenditionJob(tx, result.job_id, now);
  if (image.status !== "processing" || result.job_id !== image.renderJobId) return;

  if (result.outcome === "rendered") return finish(service, tx, image, result);
  const attemptsMax = configuration.get("images.render.attempts");
  if (!result.failure?.retryable || image.renderAttempt >= attemptsMax)
    return fail(service, tx, image, result.failure?.code ?? "unknown");
  const renderAttempt = image.renderAttempt + 1;
  await issue(service, tx, { ...image, renderJobId: newId("job"), renderAttempt, renderIssues: 1 });
}

/** Sends overdue jobs again: the same jobs, since their answers may still arrive. Returns their number. */
export async function reissueLostJobs(service: ImagesService): Promise<number> {
  const { pool, imageStore } = service;
  return inTransaction(pool, async (tx) => {
    const lost = await imageStore.lockLost(tx, issuedTogether);
    for (const image of lost) {
      if (image.renderIssues < issuesMax) await issue(service, tx, { ...image, renderIssues: image.renderIssues + 1 });
      else await fail(service, tx, image, "lost");
    }
    return lost.length;
  });
}

async function issue({ imageStore, outbox }: ImagesService, tx: Tx, image: Image): Promise<void> {
  await imageStore.saveIssued(tx, image);
  await outbox.append(tx, [renderRequested(image)]);
}

async function finish(service: ImagesService, tx: Tx, image: Image, result: RenderedJob): Promise<void> {
  const { imageStore, outbox, clock } = service;
  const placeholder = image.placeholder ?? result.placeholder;
  const dominantColor = image.dominantColor ?? result.dominant_color ?? null;
  const changed = ["status"];
  if (placeholder !== image.placeholder) changed.push("placeholder");
  if (dominantColor !== image.dominantColor) changed.push("dominant_color");
  const revision = image.revision + 1n;
  const ready = { ...image, revision, updatedAt: clock.now(), status: "ready", placeholder, dominantColor } as const;
  await imageStore.save(tx, ready);
  await outbox.append(tx, [renditionReady(service, ready, changed)]);
}

async function fail(service: ImagesService, tx: Tx, image: Image, reason: string): Promise<void> {
  const { imageStore, outbox, clock } = service;
  const now = clock.now();
  const failure = { status: "failed", failureCode: reason, failedAt: now } as const;
  const failed = { ...image, ...failure, revision: image.revision + 1n, updatedAt: now };
  await imageStore.save(tx, failed);
  await outbox.append(tx, [processingFailed(service, failed, reason)]);
}
