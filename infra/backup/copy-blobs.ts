import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ObjectStore } from "@signalbox/storage";
import { BackupDamaged, type BackupFile, verifyFile, writeFileFrom } from "./backup-files.ts";

const page = 1_000;
const atOnce = 8;
const folderOfBlobs = "blobs";
const listFile = "blobs.txt";
const pathOf = (key: string): string => `${folderOfBlobs}/${key}`;

/**
 * Copies the blobs of a store into the folder of a backup. A blob never changes under its key, so each is copied once.
 */
export class BlobCopies {
  readonly #objects: ObjectStore;
  readonly #folder: string;
  readonly #copied = new Map<string, BackupFile>();

  constructor(objects: ObjectStore, folder: string) {
    this.#objects = objects;
    this.#folder = folder;
  }

  has(key: string): boolean {
    return this.#copied.has(key);
  }

  /** Copies new blobs. Blobs deleted meanwhile are left out. */
  async copyNew(): Promise<void> {
    for await (const keys of pagesOf(this.#objects)) {
      await sideBySide(
        keys.filter((key) => !this.has(key)),
        atOnce,
        (key) => this.#copy(key),
      );
    }
  }

  async #copy(key: string): Promise<void> {
    const found = await this.#objects.get(key);
    if (found) this.#copied.set(key, await writeFileFrom(this.#folder, pathOf(key), found.stream));
  }

  /** Writes the list of all copies. */
  async writeList(): Promise<{ readonly file: BackupFile; readonly count: number; readonly bytes: number }> {
    const entries = [...this.#copied];
    const lines = entries.map(([key, { sha256, bytes }]) => `${sha256} ${bytes} ${key}\n`);
    const file = await writeFileFrom(this.#folder, listFile, Readable.from(lines.map((line) => Buffer.from(line))));
    return { file, count: entries.length, bytes: entries.reduce((sum, [, copy]) => sum + copy.bytes, 0) };
  }
}

/** Reads the copies of a backup by their keys. @throws BackupDamaged */
export async function readBlobList(folder: string, list: BackupFile): Promise<ReadonlyMap<string, BackupFile>> {
  await verifyFile(folder, list);
  const text = await readFile(join(folder, list.path), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const [sha256 = "", bytes, key = ""] = line.split(" ");
      return [key, { path: pathOf(key), bytes: Number(bytes), sha256 }];
    }),
  );
}

/**
 * Throws when the store has blobs that are not in this backup. The leftovers of an earlier restore of it are allowed.
 */
export async function requireNoOthers(objects: ObjectStore, blobs: ReadonlyMap<string, BackupFile>): Promise<void> {
  for await (const keys of pagesOf(objects)) {
    const other = keys.find((key) => !blobs.has(key));
    if (other !== undefined)
      throw new Error(`the blob store is not empty: it has ${other}, which is not in the backup`);
  }
}

/** Copies all blobs of a backup into the store. @throws BackupDamaged */
export async function restoreBlobs(
  folder: string,
  objects: ObjectStore,
  blobs: ReadonlyMap<string, BackupFile>,
): Promise<void> {
  await sideBySide([...blobs], atOnce, async ([key, { path, bytes, sha256 }]) => {
    const options = { size: bytes, sha256, contentType: "application/octet-stream", ifAbsent: true };
    await objects.put(key, createReadStream(join(folder, path)), options).catch((cause: Error) => {
      if (cause.name !== "ContentMismatch") throw cause;
      throw new BackupDamaged(`${path} in ${folder} is damaged`, { cause });
    });
  });
}

async function* pagesOf(objects: ObjectStore): AsyncGenerator<readonly string[]> {
  for (let after: string | null | undefined; after !== null; ) {
    const { objects: found, next } = await objects.list("", { limit: page, ...(after !== undefined && { after }) });
    yield found.map(({ key }) => key);
    after = next;
  }
}

/** Does the work for every item, this many at a time. The first failure ends it, after the started ones. */
async function sideBySide<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const lanes = Array.from({ length: atOnce }, async () => {
    for (const item of waiting) await work(item);
  });
  const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === "rejected");
  if (failed) throw failed.reason;
}
