import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ShutdownHooks } from "@signalbox/runtime";
import type { ObjectStore, PutOptions } from "./object-store.ts";
import { openPrivateDirectory } from "./private-directory.ts";
import { repeatBriefly } from "./s3-connection.ts";

/** Objects as files on this machine, for programs that read and write paths instead of streams. */
export interface ObjectFiles {
  /**
   * Passes the file of an object to `work`, and keeps a copy until that is done. Null when the key has no object, or
   * none any more.
   */
  withFile<T>(key: string, work: (path: string) => Promise<T>, signal?: AbortSignal): Promise<T | null>;
  /** Folder for files that `put` can take without copying them. */
  readonly directory: string;
  /** Returns the name of a new file that `put` may take. */
  newPath(): string;
  /** Stores a complete file, which is gone afterwards. */
  put(key: string, path: string, options: PutOptions): Promise<{ created: boolean }>;
}

interface ObjectFilesOptions {
  readonly objects: ObjectStore;
  /** Maximum number of bytes of cached copies, when the objects are on another machine. */
  readonly cacheMax: number;
  /** Folder of the copies; null for the system's temporary folder. */
  readonly directory: string | null;
  readonly runner: ShutdownHooks;
}

/**
 * Opens the objects as files: those of a folder directly, those of S3 as cached copies, the least used of which are
 * removed first.
 */
export async function openObjectFiles({
  objects,
  cacheMax,
  directory,
  runner,
}: ObjectFilesOptions): Promise<ObjectFiles> {
  const { folder } = objects;
  if (folder) {
    return {
      async withFile(key, work) {
        const path = folder.pathOf(key);
        if (!(await objects.head(key))) return null;
        return work(path).catch((error: NodeJS.ErrnoException) => {
          // Deleted after it was found: its image was deleted before its job.
          if (error.code === "ENOENT" && error.path === path) return null;
          throw error;
        });
      },
      directory: dirname(folder.newPath()),
      newPath: folder.newPath,
      async put(key, path, options) {
        try {
          return await folder.adopt(key, path, options);
        } catch (error) {
          // A file on another disk cannot be moved in.
          if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
          return putAndRemove(objects, key, path, options);
        }
      },
    };
  }
  const copies = await openPrivateDirectory(directory ?? tmpdir(), "signalbox-copies", runner);
  const cache = new CopyCache(objects, copies, cacheMax);
  return {
    withFile: (key, work, signal) => cache.withCopy(key, work, signal),
    directory: directory ?? tmpdir(),
    newPath: () => join(copies, randomUUID()),
    put: (key, path, options) => putAndRemove(objects, key, path, options),
  };
}

async function putAndRemove(objects: ObjectStore, key: string, path: string, options: PutOptions) {
  try {
    return await repeatBriefly(() => objects.put(key, createReadStream(path), options), options.signal);
  } finally {
    await rm(path, { force: true });
  }
}

interface Copy {
  /** Null when the key has no object. */
  readonly file: Promise<{ readonly path: string; readonly bytes: number } | null>;
  bytes: number;
  users: number;
}

/** Copies of objects on this disk. Objects never change under their keys, so no copy becomes stale. */
class CopyCache {
  readonly #objects: ObjectStore;
  readonly #folder: string;
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #copies = new Map<string, Copy>();

  constructor(objects: ObjectStore, folder: string, bytesMax: number) {
    this.#objects = objects;
    this.#folder = folder;
    this.#bytesMax = bytesMax;
  }

  async withCopy<T>(key: string, work: (path: string) => Promise<T>, signal?: AbortSignal): Promise<T | null> {
    const copy = this.#copies.get(key) ?? { file: this.#fetch(key), bytes: 0, users: 0 };
    this.#copies.delete(key);
    this.#copies.set(key, copy);
    copy.users++;
    try {
      const file = await copy.file;
      signal?.throwIfAborted();
      if (!file) return null;
      copy.bytes = file.bytes;
      return await work(file.path);
    } finally {
      copy.users--;
      if (copy.bytes === 0 && this.#copies.get(key) === copy) this.#copies.delete(key);
      await this.#evict();
    }
  }

  /** One download for all readers; a reader that aborts does not end it for the others. */
  #fetch(key: string): Promise<{ path: string; bytes: number } | null> {
    return repeatBriefly(() => this.#download(key));
  }

  async #download(key: string): Promise<{ path: string; bytes: number } | null> {
    const found = await this.#objects.get(key);
    if (!found) return null;
    const path = join(this.#folder, randomUUID());
    try {
      await pipeline(found.stream, createWriteStream(path, { flags: "wx", mode: 0o600 }));
      return { path, bytes: (await stat(path)).size };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async #evict(): Promise<void> {
    let bytes = [...this.#copies.values()].reduce((sum, copy) => sum + copy.bytes, 0);
    for (const [key, copy] of this.#copies) {
      if (bytes <= this.#bytesMax) return;
      if (copy.users > 0) continue;
      this.#copies.delete(key);
      bytes -= copy.bytes;
      const file = await copy.file;
      if (file) await rm(file.path, { force: true });
    }
  }
}
