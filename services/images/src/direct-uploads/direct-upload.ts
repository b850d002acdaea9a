import { minutes, newId } from "@signalbox/core";

/** A file that was announced, and that its client sends straight to where it is stored. */
export interface DirectUpload {
  readonly id: string;
  readonly accountId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** What the client says the bytes hash to, in lower-case hex. */
  readonly sha256: string | null;
  readonly state: "open" | "completed" | "cancelled";
  /** The image that it became. */
  readonly imageId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** When its bytes are removed next. */
  readonly sweepAt: Date;
}

export const directUploadStatuses = ["open", "completed", "cancelled", "expired"] as const;
type DirectUploadStatus = (typeof directUploadStatuses)[number];

/** A file that began to arrive right before the expiry may still be arriving this long after it. */
const lateMs = minutes(15);

/** An upload that nobody has sent a byte of. */
export function newDirectUpload(
  accountId: string,
  announced: Pick<DirectUpload, "filename" | "mimeType" | "sizeBytes" | "sha256">,
  { now, livesMs }: { readonly now: Date; readonly livesMs: number },
): DirectUpload {
  const expiresAt = new Date(now.getTime() + livesMs);
  return {
    id: newId("upl", now.getTime()),
    accountId,
    ...announced,
    state: "open",
    imageId: null,
    createdAt: now,
    expiresAt,
    sweepAt: expiresAt,
  };
}

/** What became of an upload. */
export function statusOf({ state, expiresAt }: DirectUpload, now: Date): DirectUploadStatus {
  return state === "open" && now >= expiresAt ? "expired" : state;
}

/** An upload that takes no more bytes. Those that are there go at once, as does what the file was called. */
export function ended(upload: DirectUpload, imageId: string | null, now: Date): DirectUpload {
  const state = imageId === null ? "cancelled" : "completed";
  return { ...upload, state, imageId, filename: "", sweepAt: now };
}

/**
 * When the bytes of an upload that was swept are removed once more; null when nobody can be sending any. A presigned URL
 * cannot be taken back, so the bytes may come again until it has expired.
 */
export function nextSweepAt({ expiresAt }: DirectUpload, now: Date): Date | null {
  const last = new Date(expiresAt.getTime() + lateMs);
  return now >= last ? null : last;
}
