import { ApiError } from "./answers.ts";
import type { CallOptions, Send } from "./call.ts";
import { withDeadline } from "./deadline.ts";
import type { Image, ImageUploadCompletion, ImageUploadTerms, Resources } from "./generated/resources.ts";
import { answerTo } from "./resources.ts";
import { type Fetch, type RetryPolicy, wait } from "./retry-backoff.ts";

/** The variants of an image could not be made; `image.failure` says why. */
export class ImageFailedError extends Error {
  readonly image: Image;

  constructor(image: Image) {
    super(`The variants of ${image.id} could not be rendered: ${image.failure?.code ?? "unknown"}.`);
    this.name = "ImageFailedError";
    this.image = image;
  }
}

export type WaitOptions = Pick<CallOptions, "signal" | "timeoutMs">;

export async function waitUntilReady(
  { images }: Pick<Resources, "images">,
  image: Image | string,
  { signal, timeoutMs = 120_000 }: WaitOptions = {},
): Promise<Image> {
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  let now = typeof image === "string" ? await images.get(image, { signal: deadline }) : image;
  for (let waitMs = 100; now.status === "processing"; waitMs = Math.min(waitMs * 2, 2_000)) {
    await wait(waitMs, deadline);
    now = await images.get(now.id, { signal: deadline });
  }
  if (now.status === "failed") throw new ImageFailedError(now);
  return now;
}

/** Bytes of an image. In Node, `await openAsBlob("photo.jpg")` of `node:fs` opens a file without reading it. */
export type ImageSource = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface UploadOptions extends ImageUploadCompletion {
  /** Default: the name of a `File`, otherwise `image`. */
  readonly filename?: string;
  /** The media type, such as `image/jpeg`. Default: that of the Blob. */
  readonly mimeType?: string;
  /** Called with the bytes that have arrived, after each piece. */
  readonly onProgress?: (progress: { readonly sentBytes: number; readonly totalBytes: number }) => void;
  /** Largest number of bytes that are taken of a stream, which is held in memory. Default: 20 MiB. */
  readonly streamBytesMax?: number;
  readonly signal?: AbortSignal;
}

/** Size of a piece: an upload over a bad line loses at most so much, and reports progress so often. */
const pieceBytes = 1024 * 1024;
/** Time limit of a file that is sent as a whole: the largest one over a line of 200 kbit/s. */
const wholeMsMax = 15 * 60_000;
/** Failures in a row after which an upload is given up. */
const failuresMax = 5;

interface UploadContext {
  readonly send: Send;
  readonly resources: Pick<Resources, "imageUploads">;
  readonly transport: Fetch;
  /** Waits before a piece is sent again. */
  readonly wait: RetryPolicy["wait"];
}

export async function uploadImage(
  context: UploadContext,
  source: ImageSource,
  options: UploadOptions = {},
): Promise<Image> {
  const { filename, mimeType, onProgress, streamBytesMax = 20 * 1024 * 1024, signal, ...about } = options;
  const blob = await blobOf(source, streamBytesMax);
  const type = mimeType ?? blob.type;
  if (type === "") throw new TypeError("The media type is unknown: pass mimeType, such as image/jpeg.");
  const name = filename ?? ("name" in blob && typeof blob.name === "string" ? blob.name : "image");
  const { imageUploads } = context.resources;
  const call = signal ? { signal } : {};
  const terms = await imageUploads.create({ filename: name, mime_type: type, size_bytes: blob.size }, call);
  const report = (sentBytes: number) => onProgress?.({ sentBytes, totalBytes: blob.size });
  report(0);
  try {
    await (terms.method === "PATCH"
      ? sendPieces(context, terms, blob, report, signal)
      : sendWhole(context, terms, blob, report, signal));
    return await imageUploads.complete(terms.id, about, call);
  } catch (error) {
    // Whatever was sent is of no use to anybody now. It expires by itself where this fails too.
    await imageUploads.cancel(terms.id).catch(() => undefined);
    throw error;
  }
}

async function blobOf(source: ImageSource, bytesMax: number): Promise<Blob> {
  if (source instanceof Blob) return source;
  if (source instanceof Uint8Array) return new Blob([new Uint8Array(source)]);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const piece of chunksOf(source)) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new RangeError(`The stream has more than ${bytesMax} bytes (streamBytesMax).`);
    pieces.push(new Uint8Array(piece));
  }
  return new Blob(pieces);
}

/** Reads a stream by its reader: not every browser iterates over one. */
async function* chunksOf(source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!("getReader" in source)) return yield* source;
  const reader = source.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Sends pieces to Signalbox itself. After a failure it asks how much has arrived, and goes on from there. */
async function sendPieces(
  { send, wait }: UploadContext,
  { id }: ImageUploadTerms,
  blob: Blob,
  report: (sentBytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const path = "/images/uploads/{upload_id}";
  const call = { path: { upload_id: id }, signal };
  for (let offset = 0, failures = 0; offset < blob.size; ) {
    const piece = blob.slice(offset, offset + pieceBytes);
    const headers = { "Content-Type": "application/partial-upload", "Upload-Offset": String(offset) };
    const isTaken = await answerTo(send, "PATCH", path, {
      ...call,
      headers,
      body: piece,
      bodySerializer: (body) => body,
    }).then(
      () => true,
      (error: unknown) => {
        if (!isPassing(error) || signal?.aborted || ++failures > failuresMax) throw error;
        return false;
      },
    );
    if (isTaken) {
      offset += piece.size;
      failures = 0;
    } else {
      await wait(250 * 2 ** failures, signal);
      const there = await send("HEAD", path, call).catch(() => null);
      if (there?.response.ok) offset = Number(there.response.headers.get("Upload-Offset"));
    }
    report(offset);
  }
}

/** Sends the file to the object store by the URL it was given, which takes it as a whole. */
async function sendWhole(
  { transport, wait }: UploadContext,
  { url, headers }: ImageUploadTerms,
  blob: Blob,
  report: (sentBytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const ends = AbortSignal.any([AbortSignal.timeout(wholeMsMax), ...(signal ? [signal] : [])]);
  for (let failures = 0; ; ) {
    // Without the credential: the URL is one, and the store belongs to somebody else.
    const request = new Request(url, { method: "PUT", headers, body: blob, signal: ends });
    const answer = await withDeadline(transport, { timeoutMs: wholeMsMax })(request).catch((error: unknown) => error);
    if (answer instanceof Response && answer.ok) return report(blob.size);
    const error = answer instanceof Response ? new ApiError(answer, null) : answer;
    if (!isPassing(error) || ends.aborted || ++failures > failuresMax) throw error;
    await wait(250 * 2 ** failures, ends);
  }
}

/** Returns true for a failure that the next try may not meet: no answer, an offset that moved on, or a busy server. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || [408, 409, 429].includes(error.status);
