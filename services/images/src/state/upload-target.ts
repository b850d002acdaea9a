import type { Readable } from "node:stream";
import { type Appended, type Piece, pieceType, ResumableFiles } from "@signalbox/http/uploads";
import type { Logger } from "@signalbox/runtime";
import type { ObjectStore } from "@signalbox/storage";
import type { DirectUpload, SendingTerms } from "./direct-upload.ts";

/** The storage of uploads until they are judged. */
export interface UploadTarget {
  /** Returns the instructions for the client; the URL is valid until the upload expires. */
  termsOf(upload: DirectUpload, now: Date): SendingTerms;
  /** Returns the number of received bytes. */
  receivedOf(upload: DirectUpload): Promise<number>;
  /** Reads the received bytes; null when there are none. */
  read(upload: DirectUpload): Promise<Readable | null>;
  /** Removes the bytes; missing bytes are no error. */
  remove(upload: DirectUpload): Promise<void>;
  /** Appends a piece. Absent where the bytes bypass this service. */
  readonly append?: (upload: DirectUpload, piece: Piece) => Promise<Appended>;
}

/** Opens the target for uploads in pieces, through this service. */
export async function openResumableTarget(folder: string, baseUrl: string, log: Logger): Promise<UploadTarget> {
  const files = await ResumableFiles.open(folder, log);
  return {
    termsOf: ({ id }) => ({
      method: "PATCH",
      url: `${baseUrl}/images/uploads/${id}`,
      headers: { "Content-Type": pieceType, "Upload-Offset": "0" },
    }),
    receivedOf: ({ id }) => files.receivedOf(id),
    read: ({ id }) => files.read(id),
    remove: ({ id }) => files.remove(id),
    async append(upload, piece) {
      if (isLastByteRepeated(upload, piece)) await files.shorten(upload.id, piece.offset);
      return files.append(upload, piece);
    },
  };
}

/**
 * Returns the offset that a client continues from. An upload by tus is complete once its image exists: until then the
 * last byte is asked for again, because its client takes the end of the bytes for success.
 */
export function offsetAfter({ sizeBytes, metadata }: DirectUpload, received: number): number {
  return metadata !== null && received === sizeBytes ? sizeBytes - 1 : received;
}

const isLastByteRepeated = ({ sizeBytes, metadata }: DirectUpload, { offset }: Piece): boolean =>
  metadata !== null && offset === sizeBytes - 1;

type PresigningStore = ObjectStore & { readonly presignPut: NonNullable<ObjectStore["presignPut"]> };

/** Builds the key of an upload's bytes, apart from judged originals. */
const keyOf = ({ accountId, id }: DirectUpload): string => `uploads/${accountId}/${id}`;

/** Lets clients put whole files into the object store by URLs that are valid for one file each. */
export class PresignedTarget implements UploadTarget {
  readonly #objects: PresigningStore;

  constructor(objects: PresigningStore) {
    this.#objects = objects;
  }

  termsOf(upload: DirectUpload, now: Date): SendingTerms {
    const { sizeBytes: size, mimeType: contentType, sha256, expiresAt } = upload;
    const expiresInSeconds = Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1000));
    const file = { size, contentType, now, expiresInSeconds };
    const put = this.#objects.presignPut(keyOf(upload), sha256 === null ? file : { ...file, sha256 });
    return { method: "PUT", ...put };
  }

  async receivedOf(upload: DirectUpload): Promise<number> {
    return (await this.#objects.head(keyOf(upload)))?.size ?? 0;
  }

  async read(upload: DirectUpload): Promise<Readable | null> {
    return (await this.#objects.get(keyOf(upload)))?.stream ?? null;
  }

  remove(upload: DirectUpload): Promise<void> {
    return this.#objects.delete(keyOf(upload));
  }
}
