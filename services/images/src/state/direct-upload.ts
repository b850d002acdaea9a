import { examples, identifier, imageExample, timestamp } from "@signalbox/contracts";
import { minutes, newId } from "@signalbox/core";
import { z } from "zod";
import { filename, NewImageFields, sha256Hex } from "./image-fields.ts";

/** An announced file that its client sends directly to the store. */
export interface DirectUpload {
  readonly id: string;
  readonly accountId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string | null;
  /** The metadata of an upload by tus, as sent; null for one that its client completes. */
  readonly metadata: string | null;
  readonly state: "open" | "completed" | "cancelled";
  /** The image created from it. */
  readonly imageId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time of the next removal of its bytes. */
  readonly sweepAt: Date;
}

/** The request by which a client sends the bytes of an upload. */
export interface SendingTerms {
  readonly method: "PATCH" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const directUploadStatuses = ["open", "completed", "cancelled", "expired"] as const;
type DirectUploadStatus = (typeof directUploadStatuses)[number];

/** Longest time after the expiry for which a file may still be arriving that started right before it. */
const lateMs = minutes(15);

/** Creates an upload without any bytes. */
export function newDirectUpload(accountId: string, announced: Announced, now: Date, livesMs: number): DirectUpload {
  const { filename, mime_type: mimeType, size_bytes: sizeBytes, sha256 = null, metadata = null } = announced;
  const expiresAt = new Date(now.getTime() + livesMs);
  const times = { createdAt: now, expiresAt, sweepAt: expiresAt };
  const file = { filename, mimeType, sizeBytes, sha256, metadata };
  return { id: newId("upl", now.getTime()), accountId, ...file, state: "open", imageId: null, ...times };
}

/** Returns the status of an upload. */
export function statusOf({ state, expiresAt }: DirectUpload, now: Date): DirectUploadStatus {
  return state === "open" && now >= expiresAt ? "expired" : state;
}

/** Closes an upload to further bytes. Its bytes, its file name and its metadata are removed immediately. */
export function ended(upload: DirectUpload, imageId: string | null, now: Date): DirectUpload {
  const state = imageId === null ? "cancelled" : "completed";
  return { ...upload, state, imageId, filename: "", metadata: upload.metadata && "", sweepAt: now };
}

/**
 * Returns the time of the next removal of a swept upload's bytes; null when nothing can be sent any more. A presigned
 * URL cannot be revoked, so bytes may arrive again until it expires.
 */
export function nextSweepAt({ expiresAt }: DirectUpload, now: Date): Date | null {
  const last = new Date(expiresAt.getTime() + lateMs);
  return now >= last ? null : last;
}

const { filename: exampleName, mime_type, size_bytes, sha256: exampleHash } = imageExample;
const fileExample = { filename: exampleName, mime_type, size_bytes, sha256: exampleHash };

/** The type of a file that its client does not know. */
export const unknownType = "application/octet-stream";
/** Names that systems have for types of ours. */
const otherNames = new Map([
  ["", unknownType],
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["image/heif", "image/heic"],
]);

/** Returns a media type in lower case, without parameters, under its registered name. */
function plainType(given: string): string {
  const [type = ""] = given.toLowerCase().split(";");
  return otherNames.get(type.trim()) ?? type.trim();
}

/** The announcement of a file before it is sent. */
export const NewUploadBody = z
  .strictObject({
    filename,
    mime_type: z
      .string()
      .max(100)
      .transform(plainType)
      .describe("One of `supported.imageTypes`, or empty if unknown. The actual type is detected from the bytes."),
    size_bytes: z
      .int()
      .min(1)
      .max(2 ** 31 - 1)
      .describe("The exact size; at most `limits.maxUploadBytes`."),
    sha256: sha256Hex.optional().describe("SHA-256 of the file, in lower-case hex; other bytes are refused."),
  })
  .meta({ id: "CreateImageUpload" })
  .register(examples, { example: fileExample });
export type NewUploadBody = z.output<typeof NewUploadBody>;

/** The announcement of a file by tus, with the metadata that describe the image. */
export const TusAnnouncement = NewUploadBody.extend({ filename: z.string(), metadata: z.string() });
export type Announced = NewUploadBody & { readonly metadata?: string };

/** The description of the image, given when its bytes have arrived. */
export const CompletionBody = NewImageFields.meta({ id: "ImageUploadCompletion" }).register(examples, {
  example: { title: imageExample.title, visibility: "public" },
});

export const uploadExampleId = "upl_01kdzq3f9s4r7v2m8c5x6t0b1n";
const announcedExample = {
  id: uploadExampleId,
  ...fileExample,
  created_at: "2026-01-01T09:00:00.000Z",
  expires_at: "2026-01-01T10:00:00.000Z",
};
const announced = {
  id: identifier("The upload"),
  filename: z.string().describe('"" once the upload has ended.'),
  mime_type: z.string().describe("The announced media type."),
  size_bytes: z.int().describe("The announced size of the file."),
  sha256: z.string().nullable().describe("The announced SHA-256 of the file in hex."),
  created_at: timestamp,
  expires_at: timestamp.describe("Time until which bytes are accepted."),
};

/** Instructions for sending the bytes. */
export const NewUploadView = z
  .object({
    ...announced,
    method: z
      .enum(["PATCH", "PUT"])
      .describe(
        "PATCH to this service, with your credentials and optionally in chunks, or PUT to the object store, as a whole and without credentials.",
      ),
    url: z.string().describe("Absolute URL. A PUT needs nothing else, so treat it as a credential."),
    headers: z.record(z.string(), z.string()).describe("Headers that the request must carry."),
  })
  .meta({ id: "ImageUploadTerms" })
  .register(examples, {
    example: {
      ...announcedExample,
      method: "PATCH",
      url: `https://signalbox.example/images/uploads/${uploadExampleId}`,
      headers: { "Content-Type": "application/partial-upload", "Upload-Offset": "0" },
    },
  });

export const UploadView = z
  .object({
    ...announced,
    status: z.enum(directUploadStatuses).describe("The state of the upload."),
    received_bytes: z.int().describe("Bytes that have arrived; 0 once the upload has ended."),
    image_id: z.string().nullable().describe("The image that was created from it."),
  })
  .meta({ id: "ImageUploadState" })
  .register(examples, {
    example: { ...announcedExample, status: "open", received_bytes: 524_288, image_id: null },
  });
