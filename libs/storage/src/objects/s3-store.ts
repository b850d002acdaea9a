import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isAppError } from "@signalbox/core";
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  type ObjectHead,
  type ObjectStore,
  type StoredObject,
  storeAway,
  UnsatisfiableRange,
  verifiedContent,
} from "./object-store.ts";
import { repeatBriefly, type S3Connection, S3Refusal } from "./s3-connection.ts";

/** Maximum of one S3 listing. */
const listMax = 1_000;
const maxSizeBytes = 5 * 2 ** 30; // of one PUT

/**
 * Objects in a bucket of any S3 server. One PUT with its size declared in advance: the server keeps all of it or
 * nothing.
 */
export function createS3Store(connection: S3Connection, presign: NonNullable<ObjectStore["presignPut"]>): ObjectStore {
  const head = async (key: string, signal?: AbortSignal): Promise<ObjectHead | null> => {
    checkKey(key);
    const found = await connection
      .send({ method: "HEAD", key, signal }, ({ client, name }) => client.statObject(name, key))
      .catch(absentAsNull);
    return found && { size: found.size, etag: withoutQuotes(found.etag), modifiedAt: found.lastModified };
  };

  return {
    presignPut(key, options) {
      checkKey(key);
      return presign(key, options);
    },
    head: (key) => head(key),
    async put(key, source, options) {
      checkKey(key);
      const { size, ifAbsent, signal } = options;
      if (size > maxSizeBytes) throw new Error(`an object of ${size} bytes exceeds the limit of one PUT`);
      const send = async () => {
        const body = size === 0 ? await empty(source) : verifiedContent(source, options);
        return connection.send({ method: "PUT", key, signal }, ({ upload }) => upload(key, body, options));
      };
      try {
        const { headers } = await (source instanceof Uint8Array ? repeatBriefly(send, signal) : send());
        return { etag: withoutQuotes(headers.etag), created: true };
      } catch (error) {
        if (!ifAbsent || !mayBeTaken(error)) throw error;
        const there = await head(key, signal);
        if (!there) throw isAppError(error) ? error : storeAway(error); // deleted since, or still being written
        return { etag: there.etag, created: false };
      }
    },
    async get(key, { range, signal } = {}) {
      checkKey(key);
      try {
        const part = range && "suffix" in range ? endOf(await head(key, signal), range.suffix) : range;
        if (part === null) return null;
        return await getPart(connection, key, part, signal);
      } catch (error) {
        if (!(error instanceof S3Refusal) || error.status !== 416) return absentAsNull(error);
        const there = await head(key, signal);
        if (!there) return null;
        throw new UnsatisfiableRange(there.size);
      }
    },
    async delete(key) {
      checkKey(key);
      await connection
        .send({ method: "DELETE", key }, ({ client, name }) => client.removeObject(name, key))
        .catch(absentAsNull);
    },
    list: (prefix, options) => listObjects(connection, prefix, options),
    health: () =>
      connection
        .send({ method: "HEAD" }, ({ client, name }) => client.bucketExists(name))
        .then(
          (exists) => (exists ? null : "the bucket in blobs.url does not exist in the object store"),
          (error: Error) =>
            `the object store does not answer: ${((error.cause as Error | undefined) ?? error).message}`,
        ),
  };
}

async function listObjects(
  connection: S3Connection,
  prefix: string,
  { after, limit }: Parameters<ObjectStore["list"]>[1],
) {
  checkPrefix(prefix);
  const objects: StoredObject[] = [];
  for (let last = after, truncated = true; truncated && objects.length < limit; last = objects.at(-1)?.key) {
    const wanted = Math.min(listMax, limit - objects.length);
    const page = await connection.send({ method: "GET" }, ({ client, name }) =>
      client.listObjectsV2Query(name, prefix, "", "", wanted, last ?? ""),
    );
    for (const { name: key = "", size = 0, lastModified: modifiedAt = new Date(0) } of page.objects)
      objects.push({ key, size, modifiedAt });
    truncated = page.isTruncated && page.objects.length > 0;
    if (objects.length >= limit) return { objects, next: truncated ? (objects.at(-1)?.key ?? null) : null };
  }
  return { objects, next: null };
}

type Part = Exclude<ByteRange, { suffix: number }>;

/** Returns the last bytes of an object as a part: the minio client asks for parts by their first byte alone. */
function endOf(there: ObjectHead | null, suffix: number): Part | null {
  if (!there) return null;
  if (suffix === 0 || there.size === 0) throw new UnsatisfiableRange(there.size);
  return { start: Math.max(0, there.size - suffix) };
}

async function getPart(connection: S3Connection, key: string, part: Part | undefined, signal?: AbortSignal) {
  const { start, end } = part ?? { start: 0 };
  const length = end === undefined ? 0 : end - start + 1; // 0: to the end
  const stream = await connection.send({ method: "GET", key, signal }, ({ client, name }) =>
    client.getPartialObject(name, key, start, length),
  );
  const { headers } = stream as IncomingMessage;
  const found = rangeOf(headers);
  if (part && found.size === 0) {
    stream.resume();
    throw new UnsatisfiableRange(0);
  }
  const modifiedAt = new Date(headers["last-modified"] ?? 0);
  const { size, ...range } = found;
  return { size, etag: withoutQuotes(headers.etag), modifiedAt, range, stream };
}

/** An empty stream must prove that it is empty before the request declares it: the server would believe it at once. */
async function empty(source: Parameters<ObjectStore["put"]>[1]): Promise<AsyncIterable<Uint8Array>> {
  for await (const _ of verifiedContent(source, { size: 0 }));
  return (async function* () {})();
}

function absentAsNull(error: unknown): null {
  if (error instanceof S3Refusal && error.status === 404 && error.code !== "NoSuchBucket") return null;
  throw error;
}

/**
 * 412: the key is taken; 409: another writer is at it. A server may also refuse a large upload by closing the
 * connection before its answer can be read, which looks like an outage.
 */
const mayBeTaken = (error: unknown): boolean =>
  error instanceof S3Refusal ? error.status === 412 || error.status === 409 : isAppError(error);

const withoutQuotes = (etag = ""): string => etag.replace(/^W\//, "").replaceAll('"', "");

/** Returns the part of the object in the response: all of it, or the range of `Content-Range`. */
function rangeOf(headers: IncomingHttpHeaders): { start: number; end: number; size: number } {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? [];
  if (size !== undefined) return { start: Number(start), end: Number(end), size: Number(size) };
  const whole = Number(headers["content-length"] ?? 0);
  return { start: 0, end: whole - 1, size: whole };
}
