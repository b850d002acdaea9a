import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { AppError } from "@signalbox/core";
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

const segment = "[A-Za-z0-9_-][A-Za-z0-9._-]*";
const form = new RegExp(`^${segment}(/${segment})*$`);
const prefixForm = new RegExp(`^(${segment}/)*(${segment})?$`);
const charactersMax = 512;
const segmentCharactersMax = 200; // file systems end at 255 bytes

/** Throws for a key that could leave the folder of the store, hide in it, or mean different things to two stores. */
export function checkKey(key: string): void {
  const tooLong = key.length > charactersMax || key.split("/").some((part) => part.length > segmentCharactersMax);
  if (tooLong || !form.test(key)) throw new Error(`${JSON.stringify(key)} is not an object key`);
}

/** Throws for a prefix that no key could begin with. */
export function checkPrefix(prefix: string): void {
  if (prefix.length > charactersMax || !prefixForm.test(prefix))
    throw new Error(`${JSON.stringify(prefix)} is not a key prefix`);
}

/** The error for an object store that does not answer, is full, or is too slow. */
export function storeAway(cause: unknown): AppError {
  return new AppError("unavailable", "The service cannot reach its object store right now.", {
    retryAfterSeconds: 2,
    cause,
  });
}

/**
 * Passes the source on and holds the last piece back until size and SHA-256 are verified. A store that knows the size
 * in advance can therefore never complete an object that does not match.
 */
export async function* verifiedContent(
  source: Readable | Uint8Array,
  { size, sha256 }: Pick<PutOptions, "size" | "sha256">,
): AsyncGenerator<Uint8Array, void> {
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  let held: Uint8Array | undefined;
  let bytes = 0;
  for await (const piece of source instanceof Uint8Array ? [source] : (source as AsyncIterable<Uint8Array>)) {
    bytes += piece.length;
    if (bytes > size) throw new ContentMismatch(`the source exceeds the announced ${size} bytes`);
    hash?.update(piece);
    if (held?.length) yield held;
    held = piece;
  }
  if (bytes < size) throw new ContentMismatch(`the source ended after ${bytes} of ${size} bytes`);
  if (hash && hash.digest("hex") !== sha256?.toLowerCase())
    throw new ContentMismatch("the SHA-256 of the bytes does not match");
  if (held?.length) yield held;
}
