import { minutes, newId } from "@signalbox/core";
import { chooseRendition, type Rendition, type RenditionChoice } from "@signalbox/imaging";
import { inTransaction } from "@signalbox/storage";
import { keyOf } from "../blobs/blob-keys.ts";
import { claimRenditionRequest, isRenditionRefused, isRenditionStored } from "../blobs/rendition-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import { factsOf, type Image } from "../state/image.ts";
import { singleRenderRequested } from "../state/render-job.ts";
import type { WantedForm } from "../transformations/transformations.ts";

/** Longer than any job takes; an older request was lost and may be repeated. */
const staleAfterMs = minutes(10);

/** Chooses the rendition from the record and the request alone: no bytes are read, so a 304 is cheap. */
export async function chooseContent(
  service: ImagesService,
  image: Image,
  { form, overlay }: WantedForm,
  accept: string | undefined,
): Promise<RenditionChoice> {
  const { configuration, pool, renditionMemory } = service;
  const { focalPoint, colorSpace } = image;
  const recorded = { facts: factsOf(image), focalPoint, colorSpace };
  const request = { form, overlay, accept, isAvifOffered: configuration.get("capabilities.imageAvif") };
  const choice = chooseRendition(recorded, request, configuration.get("images.render.avif-pixels"));
  const awaited = awaitedOf(choice);
  if (awaited === null) return choice;
  const key = keyOf(image, awaited);
  const isStored = renditionMemory.stored.has(key) || (await isRenditionStored(pool, key));
  if (isStored) renditionMemory.stored.set(key, true);
  return isStored ? chooseRendition(recorded, request, Number.POSITIVE_INFINITY) : choice;
}

/** Returns the rendition that would be shown if it were stored. */
function awaitedOf(choice: RenditionChoice): Rendition | null {
  if (choice.outcome === "only-later") return choice.rendition;
  return choice.outcome === "chosen" ? choice.later : null;
}

/** Returns true when the rendition crashed its processes and is not tried again for a while. */
export function isRefused({ pool, clock }: ImagesService, image: Image, rendition: Rendition): Promise<boolean> {
  return isRenditionRefused(pool, keyOf(image, rendition), clock.now());
}

/** Requests a rendition from the worker, once for all callers. Returns true for the first one. */
export async function requestRendition(service: ImagesService, image: Image, rendition: Rendition): Promise<boolean> {
  const { pool, outbox, renditionMemory, clock } = service;
  const { requestedAtMs } = renditionMemory;
  const key = keyOf(image, rendition);
  const now = clock.now();
  const staleBefore = new Date(now.getTime() - staleAfterMs);
  if ((requestedAtMs.get(key) ?? 0) > staleBefore.getTime()) return false;
  const jobId = newId("job");
  const isFirst = await inTransaction(pool, async (tx) => {
    const isClaimed = await claimRenditionRequest(tx, { key, of: image, jobId, now, staleBefore });
    if (isClaimed) await outbox.append(tx, [singleRenderRequested(image, jobId, rendition)]);
    return isClaimed;
  });
  requestedAtMs.set(key, now.getTime());
  return isFirst;
}
