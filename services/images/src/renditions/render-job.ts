import { draft } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { type Rendition, renditionKey } from "@signalbox/imaging";
import { originalKey } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import { namedRenditions } from "./named-renditions.ts";

/** The job that makes an image's named variants. */
export function renderRequested(image: Image) {
  return jobFor(image, { id: image.renderJobId, attempt: image.renderAttempt }, namedRenditions(image));
}

/** The job that makes one rendition somebody asked for and could not wait for. */
export function singleRenderRequested(image: Image, rendition: Rendition) {
  return jobFor(image, { id: newId("job"), attempt: 1 }, [{ name: null, rendition }]);
}

interface Job {
  readonly id: string;
  readonly attempt: number;
}

function jobFor(image: Image, job: Job, wanted: { name: string | null; rendition: Rendition }[]) {
  const { id, accountId, sha256, mimeType, sizeBytes, focalPoint } = image;
  return draft("image.render_requested", {
    subject: id,
    accountId,
    data: {
      job_id: job.id,
      image_id: id,
      attempt: job.attempt,
      original: { key: originalKey(sha256), mime_type: mimeType, sha256, size_bytes: sizeBytes },
      focal_point: focalPoint,
      renditions: wanted.map(({ name, rendition }) => {
        const { focalPoint: _point, ...box } = rendition;
        return { name, key: renditionKey(sha256, rendition), ...box };
      }),
      placeholder: image.placeholder === null,
    },
  });
}
