import type { Caller } from "@signalbox/auth";
import { type Appended, beyondAnnounced, type Piece } from "@signalbox/http/uploads";
import { audited } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import {
  type Announced,
  type DirectUpload,
  ended,
  newDirectUpload,
  nextSweepAt,
  type SendingTerms,
  statusOf,
  unknownType,
} from "../state/direct-upload.ts";
import { offsetAfter } from "../state/upload-target.ts";
import { type RefusedFile, refusedFor, tooManyBytes } from "../uploads/originals.ts";
import {
  cancelDirectUploadsOf,
  findOwnDirectUpload,
  insertDirectUpload,
  lockDueDirectUpload,
  lockOpenUploads,
  removeDirectUpload,
  saveDirectUpload,
} from "./direct-upload-store.ts";

export interface LimitReached {
  readonly outcome: "limit-reached";
  readonly limit: "uploads" | "bytes";
  readonly max: number;
}

/** An upload that takes no bytes any more. */
export interface Ended {
  readonly outcome: "ended";
  readonly status: string;
}

type Created =
  | { readonly outcome: "created"; readonly upload: DirectUpload; readonly terms: SendingTerms }
  | { readonly outcome: "switched-off" | "sent-elsewhere" }
  | LimitReached
  | RefusedFile;

export const areDirectUploadsOffered = ({ configuration }: ImagesService): boolean =>
  configuration.get("capabilities.imageDirectUpload");

/** Accepts the announcement of a file and returns how to send it. */
export async function announceDirectUpload(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  body: Announced,
): Promise<Created> {
  const { configuration, uploadTarget, outbox, clock } = service;
  const { accountId } = caller;
  if (!areDirectUploadsOffered(service)) return { outcome: "switched-off" };
  if (body.metadata !== undefined && !uploadTarget.append) return { outcome: "sent-elsewhere" };
  const now = clock.now();
  const refused = refusalOf(service, body) ?? (await noRoom(service, tx, accountId, body.size_bytes));
  if (refused) return refused;
  const upload = newDirectUpload(accountId, body, now, configuration.get("images.direct-upload.expires-after"));
  await insertDirectUpload(tx, upload);
  await outbox.append(tx, [audited(caller, { action: "image_upload.create", subject: upload.id })]);
  countAfter(service, tx, "created");
  return { outcome: "created", upload, terms: uploadTarget.termsOf(upload, now) };
}

function refusalOf({ configuration }: ImagesService, body: Announced): RefusedFile | null {
  const acceptedTypes = configuration.get("supported.imageTypes");
  if (body.mime_type !== unknownType && !acceptedTypes.includes(body.mime_type)) {
    const message = `Accepted types: ${acceptedTypes.join(", ")}.`;
    return refusedFor("mime_type", "unsupported_media_type", "type_not_accepted", message);
  }
  const bytesMax = configuration.get("limits.maxUploadBytes");
  if (body.size_bytes <= bytesMax) return null;
  return refusedFor("size_bytes", "image_too_large", "too_big", tooManyBytes(bytesMax));
}

async function noRoom(
  { configuration, clock }: ImagesService,
  tx: Tx,
  accountId: string,
  sizeBytes: number,
): Promise<LimitReached | null> {
  const openMax = configuration.get("images.direct-upload.open-max");
  const bytesMax = configuration.get("images.direct-upload.bytes-max");
  const open = await lockOpenUploads(tx, accountId, clock.now());
  if (open.uploads >= openMax) return { outcome: "limit-reached", limit: "uploads", max: openMax };
  if (open.bytes + sizeBytes > bytesMax) return { outcome: "limit-reached", limit: "bytes", max: bytesMax };
  return null;
}

/** The progress of an upload: its received bytes, 0 once it has ended, and the offset at which its client continues. */
export interface Progress {
  readonly upload: DirectUpload;
  readonly received: number;
  readonly offset: number;
}

/** Reads the progress of an upload of this account. One by tus that ended without an image reads as missing. */
export async function readProgress(
  service: ImagesService,
  accountId: string,
  uploadId: string,
): Promise<Progress | null> {
  const { pool, uploadTarget, clock } = service;
  const upload = await findOwnDirectUpload(pool, accountId, uploadId);
  if (!upload) return null;
  const status = statusOf(upload, clock.now());
  if (status === "completed") return { upload, received: 0, offset: upload.sizeBytes };
  if (status !== "open") return upload.metadata === null ? { upload, received: 0, offset: 0 } : null;
  const received = await uploadTarget.receivedOf(upload);
  return { upload, received, offset: offsetAfter(upload, received) };
}

/** Appends a piece to an upload. @throws AppError `image_too_large` beyond the announced size. */
export async function appendPiece(
  { uploadTarget, clock }: ImagesService,
  upload: DirectUpload,
  piece: Piece,
  pieceBytes: number,
): Promise<Appended | Ended | { readonly outcome: "sent-elsewhere" }> {
  const status = statusOf(upload, clock.now());
  if (status !== "open") return { outcome: "ended", status };
  if (!uploadTarget.append) return { outcome: "sent-elsewhere" };
  if (piece.offset + pieceBytes > upload.sizeBytes) throw beyondAnnounced(upload);
  return uploadTarget.append(upload, piece);
}

/** Ends an upload without an image. An ended upload stays unchanged. */
export async function cancelDirectUpload(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  upload: DirectUpload,
): Promise<void> {
  if (upload.state !== "open") return;
  await endDirectUpload(service, tx, upload, null);
  await service.outbox.append(tx, [audited(caller, { action: "image_upload.cancel", subject: upload.id })]);
}

/** Ends a locked upload: as this image, or as none. */
export async function endDirectUpload(
  service: ImagesService,
  tx: Tx,
  upload: DirectUpload,
  imageId: string | null,
): Promise<void> {
  const { clock, sweepUploadsWakeUp } = service;
  await saveDirectUpload(tx, ended(upload, imageId, clock.now()));
  countAfter(service, tx, imageId === null ? "cancelled" : "completed");
  tx.afterCommit(sweepUploadsWakeUp.wake);
}

/** Ends every upload of a purged account. */
export async function endDirectUploadsOf(service: ImagesService, tx: Tx, accountId: string): Promise<void> {
  const { clock, sweepUploadsWakeUp } = service;
  await cancelDirectUploadsOf(tx, accountId, clock.now());
  tx.afterCommit(sweepUploadsWakeUp.wake);
}

/** Removes the bytes of one upload that has ended or expired; false when none is due. */
export async function sweepNextDirectUpload(service: ImagesService): Promise<boolean> {
  return inTransaction(service.pool, async (tx) => {
    const upload = await lockDueDirectUpload(tx, service.clock.now());
    if (!upload) return false;
    const isGone = await sweep(service, tx, upload);
    if (isGone && upload.state === "open") countAfter(service, tx, "expired");
    return true;
  });
}

/**
 * Removes bytes before the row: after a crash between the two, the row remains and the removal starts again. Returns
 * false for an upload whose bytes may arrive again.
 */
async function sweep({ uploadTarget, clock }: ImagesService, tx: Tx, upload: DirectUpload): Promise<boolean> {
  await uploadTarget.remove(upload);
  const sweepAt = nextSweepAt(upload, clock.now());
  await (sweepAt === null ? removeDirectUpload(tx, upload) : saveDirectUpload(tx, { ...upload, sweepAt }));
  return sweepAt === null;
}

function countAfter({ directUploadsTotal }: ImagesService, tx: Tx, outcome: string): void {
  tx.afterCommit(() => directUploadsTotal.inc({ outcome }));
}
