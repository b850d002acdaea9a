import type { Caller } from "@signalbox/auth";
import type { DetailCode, Refusal } from "@signalbox/core";
import type { ArrivedFile } from "@signalbox/http/uploads";
import { type Inspection, inspectImage } from "@signalbox/imaging";
import { originalKey } from "../blobs/blob-keys.ts";
import { type Blob, touchBlob } from "../blobs/blob-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import { imageLimits, jobTerms } from "../renditions/render-terms.ts";
import type { Original } from "../state/image.ts";
import { cleanFilename } from "../state/image-fields.ts";

/** The caller, and the time until which it waits. */
export interface Waiting {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A file that does not become an image, with the reason for its sender. */
export interface RefusedFile {
  readonly outcome: "refused";
  readonly refusal: Refusal;
}

/** Describes the largest size of an image, wherever it comes from. */
export const tooManyBytes = (bytesMax: number): string => `An image may have at most ${bytesMax} bytes.`;

export const refusedFile = (refusal: Refusal): RefusedFile => ({ outcome: "refused", refusal });

/** Refuses a file for one member of its request. */
export const refusedFor = (field: string, code: Refusal["code"], detail: DetailCode, message: string): RefusedFile =>
  refusedFile({ code, message, details: [{ field, code: detail, message }] });

type Stored = { readonly outcome: "stored"; readonly original: Original } | RefusedFile;

/**
 * Judges a file and stores its bytes under their hash, unless they are there already, so that a record of them may be
 * created. Does not discard the file.
 */
export async function storeOriginal(service: ImagesService, waiting: Waiting, arrived: ArrivedFile): Promise<Stored> {
  const { configuration, imagePool, tracer } = service;
  const { caller, signal } = waiting;
  const { file } = arrived;
  const { bytes: sizeBytes, sha256 } = file;
  const terms = jobTerms(service, { principal: caller, clientAddress: caller.clientAddress ?? "", signal });
  const inspection = await tracer.span("read image", { attributes: { "image.bytes": sizeBytes } }, () =>
    inspectImage(imagePool, file, imageLimits(service), terms),
  );
  if (inspection.outcome !== "accepted") return refusedAfter(inspection);
  const { outcome: _outcome, ...judged } = inspection;
  const { mimeType } = judged.facts;
  const acceptedTypes = configuration.get("supported.imageTypes");
  if (!acceptedTypes.includes(mimeType)) {
    const advice = `Accepted types: ${acceptedTypes.join(", ")}.`;
    return refusedAfter({ outcome: "not-accepted", mimeType, advice });
  }
  const filename = cleanFilename(arrived.filename) || `image.${mimeType.slice("image/".length).replace("jpeg", "jpg")}`;
  await storeBlob(service, file.path, { accountId: caller.accountId, sha256, sizeBytes, mimeType });
  return { outcome: "stored", original: { filename, sha256, sizeBytes, ...judged } };
}

async function storeBlob({ pool, objectFiles, clock }: ImagesService, path: string, blob: Blob): Promise<void> {
  const { sha256, sizeBytes: size, mimeType: contentType } = blob;
  await touchBlob(pool, blob, clock.now());
  await objectFiles.put(originalKey(blob), path, { size, contentType, ifAbsent: true, sha256 });
}

/** Refuses a file that was not accepted. */
function refusedAfter(result: Exclude<Inspection, { outcome: "accepted" }>): RefusedFile {
  switch (result.outcome) {
    case "not-accepted":
      return refusedFor("file", "unsupported_media_type", "type_not_accepted", result.advice);
    case "over-limit": {
      const { kind, code, message } = result.problem;
      return refusedFor("file", kind === "too-large" ? "image_too_large" : "validation_error", code, message);
    }
    case "interrupted":
      return refusedFile({
        code: "unavailable",
        message: "The image could not be decoded this time.",
        retryAfterSeconds: 5,
      });
    case "crashed":
    case "out-of-memory":
    case "too-slow": {
      const message = "Decoding the image takes more memory or time than allowed for one image.";
      return refusedFor("file", "validation_error", "invalid", message);
    }
    case "broken":
      return refusedFor("file", "validation_error", "not_an_image", result.message);
  }
}
