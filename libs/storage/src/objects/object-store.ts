import type { Readable } from "node:stream";
import type { PresignedPut, PresignedPutOptions } from "./presign-put.ts";

/** The bytes of a part, first and last byte included; or the last `suffix` bytes (RFC 9110 §14.1.2). */
export type ByteRange = { readonly start: number; readonly end?: number } | { readonly suffix: number };

export interface PutOptions {
  /** Bytes, exactly. A source that ends early or goes on fails and leaves nothing behind. */
  readonly size: number;
  readonly contentType: string;
  /**
   * Writes only when nothing is stored under the key; else `created` is false and what is stored stays. It saves work and
   * is no lock: some S3 servers (versitygw) look and write in two steps, so two writers at once may both be told `created`.
   */
  readonly ifAbsent?: boolean;
  /** SHA-256 of the bytes in hex. A mismatch fails and leaves nothing behind. */
  readonly sha256?: string;
  /** True for bytes that can be made again: they need not survive a power cut, and are not waited for. */
  readonly isExpendable?: boolean;
  readonly signal?: AbortSignal;
}

interface GetOptions {
  /** A range that reaches past the end is cut; one that holds no byte throws `UnsatisfiableRange`. */
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
}

export interface StoredObject {
  readonly key: string;
  /** Bytes of the whole object. */
  readonly size: number;
  readonly modifiedAt: Date;
}

export interface ObjectHead {
  readonly size: number;
  /** Changes when the bytes are replaced; without quotes. */
  readonly etag: string;
  readonly modifiedAt: Date;
}

interface ObjectContent extends ObjectHead {
  /** The bytes asked for. Read it to its end or destroy it: it holds a file or a connection. */
  readonly stream: Readable;
  /** First and last byte of `stream` within the object. */
  readonly range: { readonly start: number; readonly end: number };
}

/**
 * Bytes under keys. An object is there whole or not at all: what is half-written, cut off or does not match is never
 * readable. A store that is away throws `AppError("unavailable")` within seconds. Keys look like `originals/ab/img_1`:
 * segments of letters, digits, `.`, `_` and `-` that do not start with a dot; a key is never also a folder of others.
 */
export interface ObjectStore {
  put(key: string, source: Readable | Uint8Array, options: PutOptions): Promise<{ etag: string; created: boolean }>;
  /** null when nothing is stored under the key. */
  get(key: string, options?: GetOptions): Promise<ObjectContent | null>;
  head(key: string): Promise<ObjectHead | null>;
  /** Deleting what is not there is fine. */
  delete(key: string): Promise<void>;
  /** Objects in the order of their keys, after the key `after`. `next` is the `after` of the next page, or null at the end. */
  list(
    prefix: string,
    options: { after?: string; limit: number },
  ): Promise<{ objects: StoredObject[]; next: string | null }>;
  /** null when the store answers, else a sentence that says why not. */
  health(): Promise<string | null>;
  /** Where the store keeps its objects as files of this machine; absent where it does not. */
  readonly folder?: ObjectFolder;
  /** Lets whoever has the URL put these bytes under the key; absent where clients cannot reach the store. */
  readonly presignPut?: (key: string, options: PresignedPutOptions) => PresignedPut;
}

/** The files of a store, for programs that read and write paths. */
export interface ObjectFolder {
  /** The file of an object; it may not be there, and it goes when the object is deleted. */
  pathOf(key: string): string;
  /** The name for a new file beside the objects, which `adopt` may take. What is left of it is swept after a day. */
  newPath(): string;
  /** Makes a whole file an object without copying it. The file is gone afterwards, also when the key was taken. */
  adopt(
    key: string,
    path: string,
    options: Pick<PutOptions, "ifAbsent" | "isExpendable">,
  ): Promise<{ etag: string; created: boolean }>;
}

/** A range that holds no byte of the object: a 416 with the size. */
export class UnsatisfiableRange extends Error {
  override readonly name = "UnsatisfiableRange";
  /** Bytes of the whole object. */
  readonly size: number;

  constructor(size: number) {
    super(`the range holds no byte of the ${size} there are`);
    this.size = size;
  }
}

/** The source did not give the bytes that were announced. */
export class ContentMismatch extends Error {
  override readonly name = "ContentMismatch";
}
