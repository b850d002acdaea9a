import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { isAppError } from "@signalbox/core";
import { checkKey, checkPrefix } from "./object-key.ts";
import {
  type ByteRange,
  type ObjectHead,
  type ObjectStore,
  type StoredObject,
  UnsatisfiableRange,
} from "./object-store.ts";
import { type S3Connection, S3Refusal } from "./s3-connection.ts";
import { storeAway } from "./store-away.ts";
import { verifiedContent } from "./verified-content.ts";

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
    const response = await connection.send({ method: "HEAD", key, signal }).catch(absentAsNull);
    if (!response) return null;
    response.resume();
    return headOf(response, Number(response.headers["content-length"] ?? 0));
  };

  return {
    presignPut(key, options) {
      checkKey(key);
      return presign(key, options);
    },
    head: (key) => head(key),
    async put(key, source, options) {
      checkKey(key);
      if (options.size > maxSizeBytes)
        throw new Error(`an object of ${options.size} bytes exceeds the limit of one PUT`);
      const headers = {
        "content-type": options.contentType,
        "content-length": String(options.size),
        ...(options.ifAbsent && { "if-none-match": "*" }),
      };
      const body = options.size === 0 ? await empty(source) : verifiedContent(source, options);
      try {
        const response = await connection.send({ method: "PUT", key, headers, body, signal: options.signal });
        response.resume();
        return { etag: etagOf(response), created: true };
      } catch (error) {
        if (!options.ifAbsent || !mayBeTaken(error)) throw error;
        const there = await head(key, options.signal);
        if (!there) throw isAppError(error) ? error : storeAway(error); // deleted since, or still being written
        return { etag: there.etag, created: false };
      }
    },
    async get(key, { range, signal } = {}) {
      checkKey(key);
      try {
        const headers: Record<string, string> = range ? { range: rangeHeader(range) } : {};
        const response = await connection.send({ method: "GET", key, headers, signal });
        const part = partOf(response);
        return { ...headOf(response, part.size), range: { start: part.start, end: part.end }, stream: response };
      } catch (error) {
        if (!(error instanceof S3Refusal) || error.status !== 416) return absentAsNull(error);
        const there = await head(key, signal);
        if (!there) return null;
        throw new UnsatisfiableRange(there.size);
      }
    },
    async delete(key) {
      checkKey(key);
      (await connection.send({ method: "DELETE", key }).catch(absentAsNull))?.resume();
    },
    async list(prefix, { after, limit }) {
      checkPrefix(prefix);
      const objects: StoredObject[] = [];
      for (let last = after, truncated = true; truncated && objects.length < limit; last = objects.at(-1)?.key) {
        const wanted = Math.min(listMax, limit - objects.length);
        const page = await listPage(connection, prefix, last, wanted);
        objects.push(...page.objects);
        truncated = page.truncated && page.objects.length > 0;
        if (objects.length >= limit) return { objects, next: truncated ? (objects.at(-1)?.key ?? null) : null };
      }
      return { objects, next: null };
    },
    health: () =>
      connection.send({ method: "HEAD" }).then(
        (response) => {
          response.resume();
          return null;
        },
        (error: Error) => `the object store does not answer: ${((error.cause as Error | undefined) ?? error).message}`,
      ),
  };
}

async function listPage(connection: S3Connection, prefix: string, after: string | undefined, wanted: number) {
  const query = { "list-type": "2", prefix, "max-keys": String(wanted), ...(after && { "start-after": after }) };
  const xml = await text(await connection.send({ method: "GET", query }));
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = ""]) => ({
    key: field(entry, "Key"), // our keys hold no character that XML would escape
    size: Number(field(entry, "Size")),
    modifiedAt: new Date(field(entry, "LastModified")),
  }));
  return { objects, truncated: field(xml, "IsTruncated") === "true" };
}

const field = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";

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

const etagOf = (response: IncomingMessage): string =>
  (response.headers.etag ?? "").replace(/^W\//, "").replaceAll('"', "");

const headOf = (response: IncomingMessage, size: number): ObjectHead => ({
  size,
  etag: etagOf(response),
  modifiedAt: new Date(response.headers["last-modified"] ?? 0),
});

const rangeHeader = (range: ByteRange): string =>
  "suffix" in range ? `bytes=-${range.suffix}` : `bytes=${range.start}-${range.end ?? ""}`;

/** Returns the part of the object in the response: all of it, or the range of `Content-Range`. */
function partOf(response: IncomingMessage): { start: number; end: number; size: number } {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers["content-range"] ?? "") ?? [];
  if (size !== undefined) return { start: Number(start), end: Number(end), size: Number(size) };
  const whole = Number(response.headers["content-length"] ?? 0);
  return { start: 0, end: whole - 1, size: whole };
}
