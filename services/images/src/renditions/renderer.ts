import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cache } from "@signalbox/cache";
import { AppError, type Clock, seconds } from "@signalbox/core";
import {
  type ImageLimits,
  type JobSlots,
  RenderError,
  type RenderedImage,
  type Rendition,
  renderCost,
  renderImage,
  renditionKey,
} from "@signalbox/imaging";
import type { ObjectStore, Pool } from "@signalbox/storage";
import type { Logger, Tracer } from "@signalbox/telemetry";
import { originalKey } from "../blobs/blob-keys.ts";
import { factsOf, type Image } from "../images/image.ts";
import type { RenditionMemory } from "./rendition-memory.ts";
import type { RenditionStore } from "./rendition-store.ts";

export type RenditionContent =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "stream"; readonly stream: Readable; readonly size: number };

interface Dependencies {
  readonly pool: Pool;
  readonly objects: ObjectStore;
  readonly renditionStore: RenditionStore;
  readonly memory: RenditionMemory;
  readonly cache: Cache;
  readonly slots: JobSlots;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly imageLimits: () => ImageLimits;
}

/** How long another instance is waited for before the work is done twice, and how often the store is looked at. */
const waitForOtherMs = seconds(3);
const lookAgainMs = 40;

/** Gives renditions: from memory, from the store, or made now, by one caller for all that want it. */
export class Renderer {
  readonly #parts: Dependencies;
  readonly #underWay = new Map<string, Promise<Buffer>>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  async obtain(image: Image, rendition: Rendition): Promise<RenditionContent> {
    const { memory, objects } = this.#parts;
    const key = renditionKey(image.sha256, rendition);
    const remembered = memory.get(key);
    if (remembered) return { kind: "bytes", bytes: remembered };
    const underWay = this.#underWay.get(key);
    if (underWay) return { kind: "bytes", bytes: await underWay };
    const stored = await objects.get(key);
    if (!stored) return { kind: "bytes", bytes: await this.#makeOnce(key, image, rendition) };
    if (!memory.takes(stored.size)) return { kind: "stream", stream: stored.stream, size: stored.size };
    const bytes = await bytesOf(stored.stream);
    memory.add(key, bytes);
    return { kind: "bytes", bytes };
  }

  #makeOnce(key: string, image: Image, rendition: Rendition): Promise<Buffer> {
    const underWay = this.#underWay.get(key);
    if (underWay) return underWay;
    const work = this.#makeAlone(key, image, rendition).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, work);
    return work;
  }

  /** The lease only saves work: without it, or when its holder is slow, the same bytes are made twice. */
  async #makeAlone(key: string, image: Image, rendition: Rendition): Promise<Buffer> {
    const { cache } = this.#parts;
    const lease = await cache.lease(`render:${key}`, { durationMs: seconds(30) });
    if (!lease && cache.state === "up") {
      const theirs = await this.#waitForOther(key);
      if (theirs) return theirs;
    }
    try {
      return await this.#make(key, image, rendition);
    } finally {
      await lease?.release();
    }
  }

  async #waitForOther(key: string): Promise<Buffer | null> {
    const { clock, objects } = this.#parts;
    const until = clock.steadyMs() + waitForOtherMs;
    while (clock.steadyMs() < until) {
      await sleep(lookAgainMs);
      const stored = await objects.get(key);
      if (stored) return bytesOf(stored.stream);
    }
    return null;
  }

  async #make(key: string, image: Image, rendition: Rendition): Promise<Buffer> {
    const { slots, objects, imageLimits, memory, log, tracer } = this.#parts;
    const facts = factsOf(image);
    const made = await slots
      .run(renderCost(facts, rendition), async () => {
        const original = await objects.get(originalKey(image.sha256));
        if (!original)
          throw new AppError("unavailable", "The image's bytes are missing.", { cause: new Error(image.id) });
        const bytes = await bytesOf(original.stream);
        const attributes = { "image.format": rendition.format };
        return tracer.span("render image", { attributes }, () => renderImage(bytes, facts, rendition, imageLimits()));
      })
      .catch(refuseUnreadable);
    memory.add(key, made.bytes);
    // Kept for the next caller, who must not wait for it and may find it missing: this one has the bytes.
    void this.#keep(key, image, made).catch((error: unknown) => log.warn({ error, key }, "a rendition was not stored"));
    return made.bytes;
  }

  async #keep(key: string, { sha256 }: Image, made: RenderedImage): Promise<void> {
    const { pool, objects, renditionStore, clock } = this.#parts;
    const { bytes, mimeType, width, height } = made;
    await objects.put(key, bytes, { size: bytes.length, contentType: mimeType, ifAbsent: true });
    const stored = { key, mime_type: mimeType, width, height, size_bytes: bytes.length };
    await renditionStore.save(pool, sha256, stored, clock.now());
  }
}

function refuseUnreadable(error: unknown): never {
  if (!(error instanceof RenderError)) throw error;
  throw new AppError("validation_error", "The image is damaged and cannot be shown in this form.", { cause: error });
}

/** One copy of the bytes; `buffer` of node:stream/consumers makes three. */
async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
