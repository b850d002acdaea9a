import type { Clock } from "@signalbox/core";
import type { Flow } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Image, Original } from "../images/image.ts";
import type { NewImageFields } from "../images/image-fields.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { AccountFull, Images } from "../images/images.ts";
import { type Originals, type RefusedFile, refusedFile, type Waiting } from "../uploads/originals.ts";
import type { StagedFile, StagingArea } from "../uploads/staging-area.ts";
import { type DirectUpload, statusOf } from "./direct-upload.ts";
import type { DirectUploadStore } from "./direct-upload-store.ts";
import type { DirectUploads, Ended } from "./direct-uploads.ts";
import type { UploadTarget } from "./upload-target.ts";

interface Dependencies {
  readonly directUploads: Pick<DirectUploads, "isOffered" | "complete">;
  readonly directUploadStore: Pick<DirectUploadStore, "findOwn" | "lockOwn">;
  readonly uploadTarget: Pick<UploadTarget, "read">;
  readonly staging: Pick<StagingArea, "stage">;
  readonly originals: Originals;
  readonly images: Pick<Images, "create">;
  readonly imageStore: Pick<ImageStore, "lockOwn">;
  readonly clock: Clock;
}

type Completed =
  | { readonly outcome: "completed"; readonly image: Image; readonly isNew: boolean }
  | { readonly outcome: "switched-off" | "missing" | "image-deleted" }
  | AccountFull
  | Ended
  | RefusedFile;

type Judged =
  /** The bytes are stored as an original, unless the upload is an image already. */
  | { readonly outcome: "judged"; readonly original: Original | null }
  | { readonly outcome: "missing" }
  | Ended
  | RefusedFile;

export type CompleteUpload = (flow: Flow, uploadId: string, fields: NewImageFields) => Promise<Completed>;

/**
 * Creates the function that makes an image of an upload. Like every upload it stores the bytes before the record: a
 * crash between the two leaves the upload open.
 * @throws AppError `unavailable` when the store is away.
 */
export function createCompleteUpload(dependencies: Dependencies): CompleteUpload {
  return async (flow, uploadId, fields) => {
    if (!dependencies.directUploads.isOffered()) return { outcome: "switched-off" };
    const judged = await judge(dependencies, flow, uploadId);
    if (judged.outcome !== "judged") return judged;
    return flow.inTransaction((tx) => record(dependencies, tx, flow, { uploadId, original: judged.original, fields }));
  };
}

interface Completion {
  readonly uploadId: string;
  /** The judged original; null for an upload that was completed meanwhile. */
  readonly original: Original | null;
  readonly fields: NewImageFields;
}

/** Creates the image of judged bytes. Of concurrent completions the first one creates the image, and all return it. */
async function record(
  { directUploads, directUploadStore, images, imageStore }: Dependencies,
  tx: Tx,
  { caller }: Waiting,
  { uploadId, original, fields }: Completion,
): Promise<Completed> {
  const upload = await directUploadStore.lockOwn(tx, caller.accountId, uploadId);
  if (!upload) return { outcome: "missing" };
  if (upload.imageId !== null) {
    const image = await imageStore.lockOwn(tx, caller.accountId, upload.imageId);
    return image ? { outcome: "completed", image, isNew: false } : { outcome: "image-deleted" };
  }
  if (upload.state !== "open" || !original) return { outcome: "ended", status: upload.state };
  const created = await images.create(tx, caller, original, fields);
  if (created.outcome !== "created") return created;
  const { image } = created;
  await directUploads.complete(tx, upload, image.id);
  return { outcome: "completed", image, isNew: true };
}

/** Judges a copy of the bytes: a client with the URL may still be sending other ones. */
async function judge(dependencies: Dependencies, waiting: Waiting, uploadId: string): Promise<Judged> {
  const { directUploadStore, uploadTarget, staging, clock } = dependencies;
  const upload = await directUploadStore.findOwn(waiting.caller.accountId, uploadId);
  if (!upload) return { outcome: "missing" };
  if (upload.imageId !== null) return { outcome: "judged", original: null };
  const status = statusOf(upload, clock.now());
  if (status !== "open") return { outcome: "ended", status };
  const content = await uploadTarget.read(upload);
  if (!content) return incomplete(upload, 0);
  const file = await staging.stage(content);
  try {
    return await judgeFile(dependencies, waiting, upload, file);
  } finally {
    await file.discard();
  }
}

/** Holds a file to its announcement, and then to the rules of every other upload. */
async function judgeFile(
  { originals }: Dependencies,
  waiting: Waiting,
  upload: DirectUpload,
  file: StagedFile,
): Promise<Judged> {
  if (file.bytes !== upload.sizeBytes) return incomplete(upload, file.bytes);
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    const message = "The hash of the bytes differs from the announced one.";
    return refusedFile({ code: "invalid_request", message, details: [{ field: "sha256", code: "invalid", message }] });
  }
  const stored = await originals.store(waiting, { file, filename: upload.filename });
  if (stored.outcome !== "stored") return stored;
  const { mimeType } = stored.original.facts;
  if (mimeType === upload.mimeType) return { outcome: "judged", original: stored.original };
  const message = `The bytes are ${mimeType}, but ${upload.mimeType} was announced.`;
  return refusedFile({
    code: "validation_error",
    message,
    details: [{ field: "mime_type", code: "invalid", message }],
  });
}

const incomplete = ({ sizeBytes }: DirectUpload, received: number): RefusedFile =>
  refusedFile({ code: "conflict", message: `${received} of the ${sizeBytes} announced bytes have arrived.` });
