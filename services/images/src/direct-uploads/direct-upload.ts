import { minutes, newId } from "@signalbox/core";

/** An announced file that its client sends directly to the store. */
export interface DirectUpload {
  readonly id: string;
  readonly accountId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The hash that the client announced, in lower-case hex. */
  readonly sha256: string | null;
  readonly state: "open" | "completed" | "cancelled";
  /** The image created from it. */
  readonly imageId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time of the next removal of its bytes. */
  readonly sweepAt: Date;
}

export const directUploadStatuses = ["open", "completed", "cancelled", "expired"] as const;
type DirectUploadStatus = (typeof directUploadStatuses)[number];

/** Longest time after the expiry for which a file may still be arriving that started right before it. */
const lateMs = minutes(15);

/** Creates an upload without any bytes. */
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

/** Returns the status of an upload. */
export function statusOf({ state, expiresAt }: DirectUpload, now: Date): DirectUploadStatus {
  return state === "open" && now >= expiresAt ? "expired" : state;
}

/** Closes an upload to further bytes. Its bytes and its file name are removed immediately. */
export function ended(upload: DirectUpload, imageId: string | null, now: Date): DirectUpload {
  const state = imageId === null ? "cancelled" : "completed";
  return { ...upload, state, imageId, filename: "", sweepAt: now };
}

/**
 * Returns the time of the next removal of a swept upload's bytes; null when nothing can be sent any more. A presigned
 * URL cannot be revoked, so bytes may arrive again until it expires.
 */
export function nextSweepAt({ expiresAt }: DirectUpload, now: Date): Date | null {
  const last = new Date(expiresAt.getTime() + lateMs);
  return now >= last ? null : last;
}
