import type { Caller } from "@signalbox/auth";
import type { StagedFile } from "@signalbox/http/uploads";
import type { Flow } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import { type AccountFull, createImage } from "../images/images.ts";
import { type DirectUpload, statusOf } from "../state/direct-upload.ts";
import type { Image, Original } from "../state/image.ts";
import type { NewImageFields } from "../state/image-fields.ts";
import { type RefusedFile, refusedFile, refusedFor, storeOriginal, type Waiting } from "../uploads/originals.ts";
import { findOwnDirectUpload, lockOwnDirectUpload } from "./direct-upload-store.ts";
import { areDirectUploadsOffered, type Ended, endDirectUpload } from "./direct-uploads.ts";

export type Completed =
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

/**
 * Creates the image of an upload. Like every upload it stores the bytes before the record: a crash between the two
 * leaves the upload open.
 * @throws AppError `unavailable` when the store is away.
 */
export async function completeUpload(
  service: ImagesService,
  flow: Flow,
  uploadId: string,
  fields: NewImageFields,
): Promise<Completed> {
  if (!areDirectUploadsOffered(service)) return { outcome: "switched-off" };
  const judged = await judge(service, flow, uploadId);
  if (judged.outcome !== "judged") return judged;
  return flow.inTransaction((tx) => record(service, tx, flow.caller, uploadId, judged.original, fields));
}

/**
 * Creates the image of judged bytes. Of concurrent completions the first one creates the image, and all return it; an
 * upload that was completed meanwhile has no original.
 */
async function record(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  uploadId: string,
  original: Original | null,
  fields: NewImageFields,
): Promise<Completed> {
  const upload = await lockOwnDirectUpload(tx, caller.accountId, uploadId);
  if (!upload) return { outcome: "missing" };
  if (upload.imageId !== null) {
    const image = await service.imageStore.lockOwn(tx, caller.accountId, upload.imageId);
    return image ? { outcome: "completed", image, isNew: false } : { outcome: "image-deleted" };
  }
  if (upload.state !== "open" || !original) return { outcome: "ended", status: upload.state };
  const created = await createImage(service, tx, caller, original, fields);
  if (created.outcome !== "created") return created;
  const { image } = created;
  await endDirectUpload(service, tx, upload, image.id);
  return { outcome: "completed", image, isNew: true };
}

/** Judges a copy of the bytes: a client with the URL may still be sending other ones. */
async function judge(service: ImagesService, waiting: Waiting, uploadId: string): Promise<Judged> {
  const { pool, uploadTarget, staging, clock } = service;
  const upload = await findOwnDirectUpload(pool, waiting.caller.accountId, uploadId);
  if (!upload) return { outcome: "missing" };
  if (upload.imageId !== null) return { outcome: "judged", original: null };
  const status = statusOf(upload, clock.now());
  if (status !== "open") return { outcome: "ended", status };
  const content = await uploadTarget.read(upload);
  if (!content) return incomplete(upload, 0);
  const file = await staging.stage(content);
  try {
    return await judgeFile(service, waiting, upload, file);
  } finally {
    await file.discard();
  }
}

/** Holds a file to its announcement, and then to the rules of every other upload. */
async function judgeFile(
  service: ImagesService,
  waiting: Waiting,
  upload: DirectUpload,
  file: StagedFile,
): Promise<Judged> {
  if (file.bytes !== upload.sizeBytes) return incomplete(upload, file.bytes);
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    const message = "The SHA-256 of the received bytes does not match the announced one.";
    return refusedFor("sha256", "invalid_request", "invalid", message);
  }
  const stored = await storeOriginal(service, waiting, { file, filename: upload.filename });
  return stored.outcome === "stored" ? { outcome: "judged", original: stored.original } : stored;
}

const incomplete = ({ sizeBytes }: DirectUpload, received: number): RefusedFile =>
  refusedFile({ code: "conflict", message: `${received} of the ${sizeBytes} announced bytes have arrived.` });
