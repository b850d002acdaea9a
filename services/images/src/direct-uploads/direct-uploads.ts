import type { Caller } from "@signalbox/auth";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { Image, Original } from "../images/image.ts";
import type { NewImageFields } from "../images/image-fields.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { Images } from "../images/images.ts";
import { tooManyBytes } from "../uploads/staging-area.ts";
import { type DirectUpload, ended, newDirectUpload, nextSweepAt, statusOf } from "./direct-upload.ts";
import type { NewUploadBody } from "./direct-upload-body.ts";
import type { DirectUploadStore } from "./direct-upload-store.ts";
import { beyondAnnounced } from "./resumable-target.ts";
import type { Appended, Piece, SendingTerms, UploadTarget } from "./upload-target.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly directUploadStore: DirectUploadStore;
  readonly uploadTarget: UploadTarget;
  readonly images: Pick<Images, "create">;
  readonly imageStore: Pick<ImageStore, "lockOwn">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly acceptedTypes: () => readonly string[];
  readonly uploadBytesMax: () => number;
  readonly directUploadLimits: () => DirectUploadLimits;
  /** Called when bytes of an upload are no longer needed. */
  readonly sweepUploadsSoon: () => void;
}

interface Completion {
  readonly uploadId: string;
  /** The judged original; null for an upload that was completed meanwhile. */
  readonly original: Original | null;
  readonly fields: NewImageFields;
}

interface Completed {
  readonly image: Image;
  readonly isNew: boolean;
}

interface DirectUploadLimits {
  /** Largest number of open uploads of an account. */
  readonly openMax: number;
  /** Largest sum of their announced bytes. */
  readonly bytesMax: number;
  readonly livesMs: number;
}

export type DirectUploads = ReturnType<typeof createDirectUploads>;

/** Files that clients send directly to the store: announced, sent, and completed as images or swept. */
export function createDirectUploads(dependencies: Dependencies) {
  const { directUploadStore, uploadTarget, outbox, clock } = dependencies;
  const uploadsTotal = dependencies.metrics.counter("signalbox_image_direct_uploads_total");
  const parts = { ...dependencies, count: (outcome: string) => uploadsTotal.inc({ outcome }) };

  return {
    /**
     * Accepts the announcement of a file and returns how to send it.
     * @throws AppError `unsupported_media_type`, `image_too_large`, and `conflict` when the account has too many open.
     */
    create: (tx: Tx, caller: Caller, body: NewUploadBody) => create(parts, tx, caller, body),

    /** Finds an upload of this account with the number of its received bytes. */
    async findOwn(accountId: string, uploadId: string): Promise<{ upload: DirectUpload; received: number } | null> {
      const upload = await directUploadStore.findOwn(accountId, uploadId);
      if (!upload) return null;
      const isOpen = statusOf(upload, clock.now()) === "open";
      return { upload, received: isOpen ? await uploadTarget.receivedOf(upload) : 0 };
    },

    /**
     * Appends a piece to an upload. @throws AppError `conflict` when the upload accepts none, `image_too_large` beyond
     * the announced size.
     */
    async append(upload: DirectUpload, piece: Piece, pieceBytes: number): Promise<Appended> {
      requireOpen(upload, clock.now());
      if (!uploadTarget.append) throw new AppError("conflict", "Send the bytes to the URL of the upload.");
      if (piece.offset + pieceBytes > upload.sizeBytes) throw beyondAnnounced(upload);
      return uploadTarget.append(upload, piece);
    },

    /** Ends an upload without an image. An ended upload stays unchanged. */
    async cancel(tx: Tx, caller: Caller, upload: DirectUpload): Promise<void> {
      if (upload.state !== "open") return;
      await end(parts, tx, upload, null);
      await outbox.append(tx, [audited(caller, { action: "image_upload.cancel", subject: upload.id })]);
    },

    /**
     * Creates the image of judged bytes. Of concurrent completions the first one creates the image, and all return it.
     * @throws AppError `not_found`, `conflict` for an upload that was cancelled meanwhile.
     */
    complete: (tx: Tx, caller: Caller, completion: Completion) => complete(parts, tx, caller, completion),

    /** Removes the bytes of one upload that has ended or expired; false when none is due. */
    sweepNext: (): Promise<boolean> =>
      inTransaction(dependencies.pool, async (tx) => {
        const upload = await directUploadStore.lockDue(tx, clock.now());
        if (upload) await sweep(parts, tx, upload);
        return upload !== null;
      }),
  };
}

interface Parts extends Dependencies {
  /** Counts the outcome of an upload in the metrics. */
  readonly count: (outcome: string) => void;
}

interface Created {
  readonly upload: DirectUpload;
  readonly terms: SendingTerms;
}

async function create(parts: Parts, tx: Tx, caller: Caller, body: NewUploadBody): Promise<Created> {
  requireTakeable(parts, body);
  const { directUploadStore, uploadTarget, directUploadLimits, outbox, clock, count } = parts;
  const { filename, mime_type: mimeType, size_bytes: sizeBytes, sha256 = null } = body;
  const now = clock.now();
  await requireRoom(parts, tx, caller.accountId, sizeBytes, now);
  const { livesMs } = directUploadLimits();
  const upload = newDirectUpload(caller.accountId, { filename, mimeType, sizeBytes, sha256 }, { now, livesMs });
  await directUploadStore.insert(tx, upload);
  await outbox.append(tx, [audited(caller, { action: "image_upload.create", subject: upload.id })]);
  tx.afterCommit(() => count("created"));
  return { upload, terms: uploadTarget.termsOf(upload, now) };
}

async function complete(
  parts: Parts,
  tx: Tx,
  caller: Caller,
  { uploadId, original, fields }: Completion,
): Promise<Completed> {
  const upload = await parts.directUploadStore.lockOwn(tx, caller.accountId, uploadId);
  if (!upload) throw new AppError("not_found", noUpload);
  if (upload.imageId !== null) return { image: await imageOf(parts, tx, upload), isNew: false };
  if (upload.state !== "open" || !original) throw takesNothing(upload.state);
  const image = await parts.images.create(tx, caller, original, fields);
  await end(parts, tx, upload, image.id);
  return { image, isNew: true };
}

async function end(
  { directUploadStore, clock, sweepUploadsSoon, count }: Parts,
  tx: Tx,
  upload: DirectUpload,
  imageId: string | null,
): Promise<void> {
  await directUploadStore.save(tx, ended(upload, imageId, clock.now()));
  tx.afterCommit(() => {
    count(imageId === null ? "cancelled" : "completed");
    sweepUploadsSoon();
  });
}

/** Removes bytes before the row: after a crash between the two, the row remains and the removal starts again. */
async function sweep({ directUploadStore, uploadTarget, clock, count }: Parts, tx: Tx, upload: DirectUpload) {
  await uploadTarget.remove(upload);
  const sweepAt = nextSweepAt(upload, clock.now());
  if (sweepAt !== null) return directUploadStore.save(tx, { ...upload, sweepAt });
  await directUploadStore.remove(tx, upload);
  if (upload.state === "open") tx.afterCommit(() => count("expired"));
}

async function imageOf({ imageStore }: Dependencies, tx: Tx, { accountId, imageId }: DirectUpload): Promise<Image> {
  const image = imageId === null ? null : await imageStore.lockOwn(tx, accountId, imageId);
  if (!image) throw new AppError("not_found", "The image of this upload was deleted.");
  return image;
}

export const noUpload = "There is no such upload.";

/** Requires that the operator offers direct uploads. @throws AppError `forbidden` otherwise. */
export function requireSwitchedOn(mayUploadDirectly: () => boolean): void {
  if (!mayUploadDirectly()) throw new AppError("forbidden", "Direct uploads are switched off.");
}

/** Requires that an upload accepts bytes. @throws AppError `conflict` otherwise. */
export function requireOpen(upload: DirectUpload, now: Date): void {
  const status = statusOf(upload, now);
  if (status !== "open") throw takesNothing(status);
}

const takesNothing = (status: string) => new AppError("conflict", `The upload is ${status}. Start another one.`);

function requireTakeable({ acceptedTypes, uploadBytesMax }: Dependencies, body: NewUploadBody): void {
  const bytesMax = uploadBytesMax();
  if (!acceptedTypes().includes(body.mime_type)) {
    const message = `Accepted types: ${acceptedTypes().join(", ")}.`;
    throw new AppError("unsupported_media_type", message, {
      details: [{ field: "mime_type", code: "type_not_accepted", message }],
    });
  }
  if (body.size_bytes > bytesMax) {
    const message = tooManyBytes(bytesMax);
    throw new AppError("image_too_large", message, { details: [{ field: "size_bytes", code: "too_big", message }] });
  }
}

async function requireRoom(
  { directUploadStore, directUploadLimits }: Dependencies,
  tx: Tx,
  accountId: string,
  sizeBytes: number,
  now: Date,
): Promise<void> {
  const { openMax, bytesMax } = directUploadLimits();
  const open = await directUploadStore.lockUsage(tx, accountId, now);
  if (open.uploads >= openMax) {
    throw new AppError("conflict", `The account can have at most ${openMax} open uploads. Complete or cancel some.`);
  }
  if (open.bytes + sizeBytes > bytesMax) {
    throw new AppError(
      "conflict",
      `The open uploads of the account can have at most ${bytesMax} bytes together. Complete or cancel some.`,
    );
  }
}
