import type { Readable } from "node:stream";
import type { PresignedPut, PresignedPutOptions } from "./presign-put.ts";

/** The bytes of a part, first and last byte included; or the last `suffix` bytes (RFC 9110 §14.1.2). */
export type ByteRange = { readonly start: number; readonly end?: number } | { readonly suffix: number };

export interface PutOptions {
  /** Exact number of bytes. A source that is shorter or longer fails and leaves nothing behind. */
  readonly size: number;
  readonly contentType: string;
  /**
   * Writes only when the key is free; otherwise `created` is false and the stored object stays. It saves work and is no
   * lock: some S3 servers (versitygw) check and write in two steps, so two simultaneous writers may both get `created`.
   */
  readonly ifAbsent?: boolean;
  /** SHA-256 of the bytes in hex. A mismatch fails and leaves nothing behind. */
  readonly sha256?: string;
  /** True for bytes that can be recreated: they need not survive a power cut, and are not synced. */
  readonly isExpendable?: boolean;
  readonly signal?: AbortSignal;
}

interface GetOptions {
  /** A range that reaches past the end is truncated; an empty one throws `UnsatisfiableRange`. */
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
}

export interface StoredObject {
  readonly key: string;
  /** Size of the whole object in bytes. */
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
  /** The requested bytes. Read it to its end or destroy it: it holds a file or a connection. */
  readonly stream: Readable;
  /** First and last byte of `stream` within the object. */
  readonly range: { readonly start: number; readonly end: number };
}

/**
 * Bytes under keys. An object is stored whole or not at all: incomplete or mismatched bytes are never readable. An
 * unreachable store throws `AppError("unavailable")` within seconds. Keys look like `originals/ab/img_1`: segments of
 * letters, digits, `.`, `_` and `-` that do not start with a dot; a key is never also a folder of others.
 */
export interface ObjectStore {
  put(key: string, source: Readable | Uint8Array, options: PutOptions): Promise<{ etag: string; created: boolean }>;
  /** Returns null when the key has no object. */
  get(key: string, options?: GetOptions): Promise<ObjectContent | null>;
  head(key: string): Promise<ObjectHead | null>;
  /** Deleting a missing object is fine. */
  delete(key: string): Promise<void>;
  /** Lists objects in key order, after the key `after`. `next` is the `after` of the next page, or null at the end. */
  list(
    prefix: string,
    options: { after?: string; limit: number },
  ): Promise<{ objects: StoredObject[]; next: string | null }>;
  /** Returns null when the store answers, else a sentence that says why not. */
  health(): Promise<string | null>;
  /** The store's objects as files on this machine; absent when the store is elsewhere. */
  readonly folder?: ObjectFolder;
  /** Signs a URL that lets its holder put these bytes under the key; absent when clients cannot reach the store. */
  readonly presignPut?: (key: string, options: PresignedPutOptions) => PresignedPut;
}

/** The files of a store, for programs that read and write paths. */
export interface ObjectFolder {
  /** Returns the file of an object; it may not exist, and is removed when the object is deleted. */
  pathOf(key: string): string;
  /**
   * Returns the name of a new file beside the objects, which `adopt` may take. An abandoned one is removed after a day.
   */
  newPath(): string;
  /** Makes a complete file an object without copying it. The file is gone afterwards, even when the key was taken. */
  adopt(
    key: string,
    path: string,
    options: Pick<PutOptions, "ifAbsent" | "isExpendable">,
  ): Promise<{ etag: string; created: boolean }>;
}

/** The range contains no byte of the object: a 416 with the size. */
export class UnsatisfiableRange extends Error {
  override readonly name = "UnsatisfiableRange";
  /** Size of the whole object in bytes. */
  readonly size: number;

  constructor(size: number) {
    super(`the range contains none of the ${size} bytes`);
    this.size = size;
  }
}

/** The source differs from the announced size or digest. */
export class ContentMismatch extends Error {
  override readonly name = "ContentMismatch";
}
