import type { IncomingMessage } from "node:http";
import { type ImageLimits, type ImagePool, type Inspection, inspectImage, type JobTerms } from "@signalbox/imaging";
import type { Tracer } from "@signalbox/telemetry";
import type { Blobs } from "../blobs/blobs.ts";
import type { Original } from "../images/image.ts";
import { type FileSource, fetchFile } from "./fetch-file.ts";
import { receiveUpload } from "./receive-upload.ts";
import type { ArrivedFile } from "./staging-area.ts";
import { readFilename } from "./upload-fields.ts";

interface Dependencies extends FileSource {
  readonly blobs: Blobs;
  readonly imagePool: ImagePool;
  readonly tracer: Tracer;
  readonly imageLimits: () => ImageLimits;
  readonly acceptedTypes: () => readonly string[];
}

export type Uploads = ReturnType<typeof createUploads>;

export type StoreOutcome =
  | { readonly outcome: "stored"; readonly original: Original }
  | Exclude<Inspection, { outcome: "accepted" }>;

/** Receives files: from a request or a URL to the staging area, and after judgement to the blob store. */
export function createUploads({ blobs, imagePool, imageLimits, acceptedTypes, tracer, ...source }: Dependencies) {
  return {
    receive: (request: IncomingMessage) => receiveUpload(request, source.staging),

    fetch: (sourceUrl: string, signal: AbortSignal) => fetchFile(source, sourceUrl, signal),

    /** Judges a file and stores its bytes, so that its record may be created. Does not discard the file. */
    async store(accountId: string, { file, filename }: ArrivedFile, terms: JobTerms): Promise<StoreOutcome> {
      const { path, bytes: sizeBytes, sha256 } = file;
      const inspection = await tracer.span("read image", { attributes: { "image.bytes": sizeBytes } }, () =>
        inspectImage(imagePool, file, imageLimits(), terms),
      );
      if (inspection.outcome !== "accepted") return inspection;
      const { facts, placeholder, dominantColor } = inspection;
      const { mimeType } = facts;
      if (!acceptedTypes().includes(mimeType)) {
        const advice = `Accepted types: ${acceptedTypes().join(", ")}.`;
        return { outcome: "not-accepted", mimeType, advice };
      }
      const original = {
        filename: readFilename(filename, mimeType),
        sha256,
        sizeBytes,
        facts,
        placeholder,
        dominantColor,
      };
      await blobs.store(path, { accountId, sha256, sizeBytes, mimeType });
      return { outcome: "stored", original };
    },
  };
}
