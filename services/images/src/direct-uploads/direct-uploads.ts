import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import { type RefusedFile, refusedFile } from "../uploads/originals.ts";
import { tooManyBytes } from "../uploads/staging-area.ts";
import {
  type DirectUpload,
  ended,
  type NewUploadBody,
  newDirectUpload,
  nextSweepAt,
  type SendingTerms,
  statusOf,
} from "./direct-upload.ts";
import type { DirectUploadStore } from "./direct-upload-store.ts";
import { beyondAnnounced } from "./resumable-upload-target.ts";
import type { Appended, Piece, UploadTarget } from "./upload-target.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly directUploadStore: DirectUploadStore;
  readonly uploadTarget: UploadTarget;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly limits: () => DirectUploadLimits;
  /** Called when bytes of an upload are no longer needed. */
  readonly sweepSoon: () => void;
}

interface DirectUploadLimits {
  readonly isOffered: boolean;
  readonly acceptedTypes: readonly string[];
  /** Largest size of one file. */
  readonly fileBytesMax: number;
  /** Largest number of open uploads of an account. */
  readonly openMax: number;
  /** Largest sum of their announced bytes. */
  readonly openBytesMax: number;
  readonly livesMs: number;
}

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
  | { readonly outcome: "switched-off" }
  | LimitReached
  | RefusedFile;

export type DirectUploads = ReturnType<typeof createDirectUploads>;

/** Files that clients send directly to the store: announced, sent, and ended as images or swept. */
export function createDirectUploads(dependencies: Dependencies) {
  const { pool, directUploadStore, uploadTarget, outbox, clock, sweepSoon } = dependencies;
  const uploadsTotal = dependencies.metrics.counter("signalbox_image_direct_uploads_total");
  const countAfter = (tx: Tx, outcome: string) => tx.afterCommit(() => uploadsTotal.inc({ outcome }));

  /** Ends an upload: as this image, or as none. */
  async function end(tx: Tx, upload: DirectUpload, imageId: string | null): Promise<void> {
    await directUploadStore.save(tx, ended(upload, imageId, clock.now()));
    countAfter(tx, imageId === null ? "cancelled" : "completed");
    tx.afterCommit(sweepSoon);
  }

  return {
    isOffered: (): boolean => dependencies.limits().isOffered,

    /** Accepts the announcement of a file and returns how to send it. */
    async create(tx: Tx, caller: Caller, body: NewUploadBody): Promise<Created> {
      const created = await create(dependencies, tx, caller, body);
      if (created.outcome === "created") countAfter(tx, "created");
      return created;
    },

    /** Finds an upload of this account with the number of its received bytes. */
    async findOwn(accountId: string, uploadId: string): Promise<{ upload: DirectUpload; received: number } | null> {
      const upload = await directUploadStore.findOwn(accountId, uploadId);
      if (!upload) return null;
      const isOpen = statusOf(upload, clock.now()) === "open";
      return { upload, received: isOpen ? await uploadTarget.receivedOf(upload) : 0 };
    },

    append: (upload: DirectUpload, piece: Piece, pieceBytes: number) => append(dependencies, upload, piece, pieceBytes),

    /** Ends an upload without an image. An ended upload stays unchanged. */
    async cancel(tx: Tx, caller: Caller, upload: DirectUpload): Promise<void> {
      if (upload.state !== "open") return;
      await end(tx, upload, null);
      await outbox.append(tx, [audited(caller, { action: "image_upload.cancel", subject: upload.id })]);
    },

    /** Ends a locked upload as an image. */
    complete: (tx: Tx, upload: DirectUpload, imageId: string): Promise<void> => end(tx, upload, imageId),

    /** Ends every upload of a purged account. */
    async endAllOf(tx: Tx, accountId: string): Promise<void> {
      await directUploadStore.endAllOf(tx, accountId, clock.now());
      tx.afterCommit(sweepSoon);
    },

    /** Removes the bytes of one upload that has ended or expired; false when none is due. */
    sweepNext: (): Promise<boolean> =>
      inTransaction(pool, async (tx) => {
        const upload = await directUploadStore.lockDue(tx, clock.now());
        if (!upload) return false;
        const isGone = await sweep(dependencies, tx, upload);
        if (isGone && upload.state === "open") countAfter(tx, "expired");
        return true;
      }),
  };
}

async function create(dependencies: Dependencies, tx: Tx, caller: Caller, body: NewUploadBody): Promise<Created> {
  const { directUploadStore, uploadTarget, outbox, clock } = dependencies;
  const limits = dependencies.limits();
  if (!limits.isOffered) return { outcome: "switched-off" };
  const now = clock.now();
  const refused = refusalOf(limits, body) ?? (await noRoom(dependencies, tx, caller.accountId, body.size_bytes));
  if (refused) return refused;
  const { filename, mime_type: mimeType, size_bytes: sizeBytes, sha256 = null } = body;
  const announced = { filename, mimeType, sizeBytes, sha256 };
  const upload = newDirectUpload(caller.accountId, announced, { now, livesMs: limits.livesMs });
  await directUploadStore.insert(tx, upload);
  await outbox.append(tx, [audited(caller, { action: "image_upload.create", subject: upload.id })]);
  return { outcome: "created", upload, terms: uploadTarget.termsOf(upload, now) };
}

/** Appends a piece to an upload. @throws AppError `image_too_large` beyond the announced size. */
async function append(
  { uploadTarget, clock }: Dependencies,
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

/**
 * Removes bytes before the row: after a crash between the two, the row remains and the removal starts again. Returns
 * false for an upload whose bytes may arrive again.
 */
async function sweep(
  { directUploadStore, uploadTarget, clock }: Dependencies,
  tx: Tx,
  upload: DirectUpload,
): Promise<boolean> {
  await uploadTarget.remove(upload);
  const sweepAt = nextSweepAt(upload, clock.now());
  await (sweepAt === null ? directUploadStore.remove(tx, upload) : directUploadStore.save(tx, { ...upload, sweepAt }));
  return sweepAt === null;
}

function refusalOf({ acceptedTypes, fileBytesMax }: DirectUploadLimits, body: NewUploadBody): RefusedFile | null {
  if (!acceptedTypes.includes(body.mime_type)) {
    const message = `Accepted types: ${acceptedTypes.join(", ")}.`;
    const details = [{ field: "mime_type", code: "type_not_accepted", message } as const];
    return refusedFile({ code: "unsupported_media_type", message, details });
  }
  if (body.size_bytes <= fileBytesMax) return null;
  const message = tooManyBytes(fileBytesMax);
  return refusedFile({
    code: "image_too_large",
    message,
    details: [{ field: "size_bytes", code: "too_big", message }],
  });
}

async function noRoom(
  { directUploadStore, clock, limits }: Dependencies,
  tx: Tx,
  accountId: string,
  sizeBytes: number,
): Promise<LimitReached | null> {
  const { openMax, openBytesMax } = limits();
  const open = await directUploadStore.lockUsage(tx, accountId, clock.now());
  if (open.uploads >= openMax) return { outcome: "limit-reached", limit: "uploads", max: openMax };
  if (open.bytes + sizeBytes > openBytesMax) return { outcome: "limit-reached", limit: "bytes", max: openBytesMax };
  return null;
}
