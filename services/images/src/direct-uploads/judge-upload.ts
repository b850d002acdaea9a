import type { Clock, Refusal } from "@signalbox/core";
import type { JobTerms } from "@signalbox/imaging";
import type { Original } from "../images/image.ts";
import type { StagedFile, StagingArea } from "../uploads/staging-area.ts";
import { refusalOf } from "../uploads/upload-refusals.ts";
import type { Uploads } from "../uploads/uploads.ts";
import type { DirectUpload } from "./direct-upload.ts";
import type { DirectUploadStore } from "./direct-upload-store.ts";
import { noUpload, requireOpen } from "./direct-uploads.ts";
import type { UploadTarget } from "./upload-target.ts";

interface Dependencies {
  readonly directUploadStore: Pick<DirectUploadStore, "findOwn">;
  readonly uploadTarget: Pick<UploadTarget, "read">;
  readonly staging: Pick<StagingArea, "stage">;
  readonly uploads: Pick<Uploads, "store">;
  readonly clock: Clock;
}

type Judgement =
  /** The bytes are stored as an original, unless the upload is an image already. */
  | { readonly outcome: "judged"; readonly original: Original | null }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

export type JudgeUpload = (accountId: string, uploadId: string, terms: JobTerms) => Promise<Judgement>;

const refused = (refusal: Refusal) => ({ outcome: "refused", refusal }) as const;

/**
 * Creates the function that judges the bytes of an upload by the rules of every other upload and stores them as an
 * original. It judges a copy: a client with the URL may still be sending other bytes.
 * @throws AppError `conflict` when the upload has ended, `unavailable` when the store is away.
 */
export function createJudgeUpload(dependencies: Dependencies): JudgeUpload {
  const { directUploadStore, uploadTarget, staging, clock } = dependencies;
  return async (accountId, uploadId, terms) => {
    const upload = await directUploadStore.findOwn(accountId, uploadId);
    if (!upload) return refused({ code: "not_found", message: noUpload });
    if (upload.imageId !== null) return { outcome: "judged", original: null };
    requireOpen(upload, clock.now());
    const content = await uploadTarget.read(upload);
    if (!content) return refused(incomplete(upload, 0));
    const file = await staging.stage(content);
    try {
      return await judgeFile(dependencies, upload, file, terms);
    } finally {
      await file.discard();
    }
  };
}

async function judgeFile(
  { uploads }: Dependencies,
  upload: DirectUpload,
  file: StagedFile,
  terms: JobTerms,
): Promise<Judgement> {
  if (file.bytes !== upload.sizeBytes) return refused(incomplete(upload, file.bytes));
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    const message = "The hash of the bytes differs from the announced one.";
    return refused({ code: "invalid_request", message, details: [{ field: "sha256", code: "invalid", message }] });
  }
  const stored = await uploads.store(upload.accountId, { file, filename: upload.filename }, terms);
  if (stored.outcome !== "stored") return refused(refusalOf(stored));
  const { mimeType } = stored.original.facts;
  if (mimeType === upload.mimeType) return { outcome: "judged", original: stored.original };
  const message = `The bytes are ${mimeType}, but ${upload.mimeType} was announced.`;
  return refused({ code: "validation_error", message, details: [{ field: "mime_type", code: "invalid", message }] });
}

function incomplete({ sizeBytes }: DirectUpload, received: number): Refusal {
  return { code: "conflict", message: `${received} of the ${sizeBytes} announced bytes have arrived.` };
}
