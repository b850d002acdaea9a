import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ObjectStore } from "@signalbox/storage";
import { BackupDamaged, type BackupFile, type BackupFolder } from "./backup-folder.ts";

const page = 1_000;
const atOnce = 8;
const listFile = "blobs.txt";

/** An earlier backup with the same recipients, whose blobs need not be copied again. */
export interface FormerBlobs {
  readonly folder: BackupFolder;
  readonly files: ReadonlyMap<string, BackupFile>;
}

/**
 * Copies the blobs of a store into the folder of a backup. A blob never changes under its key, so each is copied once,
 * and not at all where an earlier backup on the same disk has it.
 */
export class BlobCopies {
  readonly #objects: ObjectStore;
  readonly #folder: BackupFolder;
  readonly #former: FormerBlobs | null;
  readonly #copied = new Map<string, BackupFile>();

  constructor(objects: ObjectStore, folder: BackupFolder, former: FormerBlobs | null) {
    this.#objects = objects;
    this.#folder = folder;
    this.#former = former;
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
    const former = this.#former?.files.get(key);
    if (this.#former && former && (await this.#folder.linkFrom(this.#former.folder, former))) {
      this.#copied.set(key, former);
      return;
    }
    const found = await this.#objects.get(key);
    if (found) this.#copied.set(key, await this.#folder.write(`blobs/${key}`, found.stream));
  }

  async writeList(): Promise<{ readonly file: BackupFile; readonly count: number; readonly bytes: number }> {
    const entries = [...this.#copied];
    const lines = entries.map(([key, file]) => Buffer.from(`${lineOf(key, file)}\n`));
    const file = await this.#folder.write(listFile, Readable.from(lines));
    return { file, count: entries.length, bytes: entries.reduce((sum, [, copy]) => sum + copy.bytes, 0) };
  }
}

const lineOf = (key: string, { path, bytes, sha256, content }: BackupFile): string =>
  [sha256, bytes, content.sha256, content.bytes, path, key].join(" ");

function blobOf(line: string): [key: string, file: BackupFile] {
  const [sha256 = "", bytes, contentSha256 = "", contentBytes, path = "", key = ""] = line.split(" ");
  const content = { sha256: contentSha256, bytes: Number(contentBytes) };
  return [key, { path, sha256, bytes: Number(bytes), content }];
}

/** Reads the copies of a backup by their keys. @throws BackupDamaged */
export async function readBlobList(folder: BackupFolder, list: BackupFile): Promise<ReadonlyMap<string, BackupFile>> {
  await folder.verify(list);
  const lines = (await text(await folder.read(list))).split("\n").filter((line) => line !== "");
  return new Map(lines.map(blobOf));
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
  folder: BackupFolder,
  objects: ObjectStore,
  blobs: ReadonlyMap<string, BackupFile>,
): Promise<void> {
  await sideBySide([...blobs], atOnce, async ([key, file]) => {
    const { bytes: size, sha256 } = file.content;
    const options = { size, sha256, contentType: "application/octet-stream", ifAbsent: true };
    await objects.put(key, await folder.read(file), options).catch((cause: Error) => {
      if (cause.name !== "ContentMismatch") throw cause;
      throw new BackupDamaged(`${file.path} in ${folder.path} is damaged`, { cause });
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
