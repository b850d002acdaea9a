import type { Readable } from "node:stream";
import { AppError, minutes } from "@signalbox/core";
import type { BytePart } from "@signalbox/http";
import { outputTraits, type RenderedFile, type Rendition, renditionsToEvict } from "@signalbox/imaging";
import type { ObjectStore } from "@signalbox/storage";
import { renditionPrefix } from "../blobs/blob-keys.ts";
import {
  listRenditionsOnDemand,
  markRenditionSeen,
  removeRenditions,
  saveRendition,
} from "../blobs/rendition-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import type { Image } from "../state/image.ts";

export type RenditionContent =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** A stream that is opened once, in whole or in part, or not at all. */
  | { readonly kind: "stored"; readonly size: number; open(part?: BytePart): Promise<Readable>; leave(): void }
  /** Missing, and too slow to make while a caller waits. */
  | { readonly kind: "later" };

/** One rendition of an image, with its key in the store. */
export interface Wanted {
  readonly key: string;
  readonly image: Image;
  readonly rendition: Rendition;
}

/** A rendition in a file, which belongs to its holder. */
export interface RenditionFile {
  readonly path: string;
  readonly file: RenderedFile;
}

/** Largest number of stored on-demand renditions of one image. The named variants do not count. */
const countMax = 64;
/** Largest size of them together, as a multiple of the original. */
const bytesShareMax = 4;
/** Number of new renditions between two checks: fewer cannot exceed the bounds. */
const lookEvery = 8;
/** Time for which other instances can read that a rendition was stored. */
const announcedMs = minutes(1);

/** Finds a rendition in the store, and records its use. */
export async function findStoredRendition(service: ImagesService, key: string): Promise<RenditionContent | null> {
  const { objects, renditionMemory } = service;
  const stored = await objects.get(key);
  if (!stored) return null;
  markSeen(service, key);
  const { stream, size } = stored;
  if (size > renditionMemory.bytes.maxEntrySize) {
    const open = async (part?: BytePart) => (part ? openPart(objects, key, stream, part) : stream);
    return { kind: "stored", size, open, leave: () => stream.destroy() };
  }
  const bytes = await bytesOf(stream);
  renditionMemory.bytes.set(key, bytes);
  return { kind: "bytes", bytes };
}

/** Records a use of a stored rendition, in the background. */
function markSeen({ pool, renditionMemory, clock, log }: ImagesService, key: string): void {
  if (renditionMemory.seen.has(key)) return;
  renditionMemory.seen.set(key, true);
  void markRenditionSeen(pool, key, clock.now()).catch((error: unknown) =>
    log.warn({ error, key }, "a rendition was not marked as seen"),
  );
}

/** Returns true when an instance has just stored the rendition. */
export async function isAnnounced({ cache }: ImagesService, key: string): Promise<boolean> {
  return Boolean(await cache.get(announcement(key)));
}

/** Reads a rendition that another instance has just stored. */
export async function readAnnounced({ objects }: ImagesService, key: string): Promise<Buffer | null> {
  const stored = await objects.get(key);
  return stored ? bytesOf(stored.stream) : null;
}

const announcement = (key: string): string => `made:${key}`;

/** Stores a new rendition from a file and announces it. */
export async function keepRendition(
  service: ImagesService,
  { key, image, rendition }: Wanted,
  { file, path }: RenditionFile,
): Promise<void> {
  const { pool, objects, objectFiles, cache, clock } = service;
  const { mimeType } = outputTraits[rendition.format];
  const { width, height, sizeBytes } = file;
  await objectFiles.put(key, path, { size: sizeBytes, contentType: mimeType, isExpendable: true });
  const stored = { name: null, key, mime_type: mimeType, width, height, size_bytes: sizeBytes };
  const isKept = await saveRendition(pool, image, stored, clock.now());
  // The image was deleted and its bytes erased during the rendering.
  if (!isKept) return objects.delete(key);
  await cache.set(announcement(key), "1", { expiresInMs: announcedMs });
  await evict(service, image);
}

/**
 * Counts a new rendition of an image, and removes the least recently used ones when there may be too many: a client that
 * requests a hundred qualities must not fill the disk.
 */
async function evict({ pool, objects, renditionMemory }: ImagesService, image: Image): Promise<void> {
  const { newCounts } = renditionMemory;
  const prefix = renditionPrefix(image);
  const count = (newCounts.get(prefix) ?? lookEvery - 1) + 1;
  newCounts.set(prefix, count % lookEvery);
  if (count < lookEvery) return;
  const rule = { countMax: countMax - lookEvery, bytesMax: bytesShareMax * image.sizeBytes };
  const keys = renditionsToEvict(await listRenditionsOnDemand(pool, image), rule);
  // The row first: a rendition without a row is swept with its original, but a row without bytes would count as stored.
  await removeRenditions(pool, keys);
  for (const key of keys) await objects.delete(key);
}

async function openPart(objects: ObjectStore, key: string, whole: Readable, part: BytePart): Promise<Readable> {
  whole.destroy();
  const stored = await objects.get(key, { range: part });
  if (!stored) throw new AppError("unavailable", "The bytes are missing.", { retryAfterSeconds: 1 });
  return stored.stream;
}

/** Reads the stream with one copy of the bytes; `buffer` of node:stream/consumers makes three. */
async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
