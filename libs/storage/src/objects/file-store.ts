import { randomUUID } from "node:crypto";
import { createReadStream, type Dirent, type Stats } from "node:fs";
import { access, constants, link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { hours, trueMs } from "@signalbox/core";
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  type ObjectFolder,
  type ObjectHead,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  storeAway,
  UnsatisfiableRange,
  verifiedContent,
} from "./object-store.ts";

/** Folder in which bytes are written until they are complete. No key begins with a dot. */
const incoming = ".incoming";
/** An upload that has not been touched for a day was abandoned by a crash. */
const abandonedMs = hours(24);
const awayCodes = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE", "ESTALE"];

/**
 * Objects as files under `root`, with the key as the path. The bytes are written aside and synced, then moved in by one
 * `rename`, or by one `link` when the key must be free: a reader sees an object whole or not at all, even after a power
 * cut. Several processes may share the folder.
 */
export async function openFileStore(root: string, nowMs: number): Promise<ObjectStore> {
  await mkdir(join(root, incoming), { recursive: true, mode: 0o700 });
  await removeOldFiles(join(root, incoming), nowMs - abandonedMs);
  const pathOf = (key: string): string => {
    checkKey(key);
    return join(root, key);
  };

  return {
    async put(key, source, options) {
      const [path, aside] = [pathOf(key), join(root, incoming, randomUUID())];
      try {
        await write(aside, source, options);
        return await place(root, aside, path, options);
      } catch (error) {
        await unlink(aside).catch(() => {}); // already moved, or never created
        throw explained(error);
      }
    },
    folder: folderOf(root, pathOf),
    async get(key, { range, signal } = {}) {
      const path = pathOf(key);
      const file = await open(path, "r").catch(absentAsNull(root));
      if (!file) return null;
      try {
        const found = await file.stat();
        if (!found.isFile()) {
          await file.close();
          return null;
        }
        const part = resolveRange(range, found.size);
        const options = { ...part, end: Math.max(part.end, 0), autoClose: true, signal };
        // An open file stays the same when another takes its name. A stream cannot express the `end` of an empty file.
        return { ...headOf(found), range: part, stream: createReadStream(path, { ...options, fd: file }) };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    async head(key) {
      const found = await stat(pathOf(key)).catch(absentAsNull(root));
      return found?.isFile() ? headOf(found) : null;
    },
    async delete(key) {
      await unlink(pathOf(key)).catch(absentAsNull(root));
    },
    list: (prefix, options) => listObjects(root, prefix, options),
    health: () =>
      access(join(root, incoming), constants.W_OK).then(
        () => null,
        (error: Error) => `the folder of the object store cannot be written: ${error.message}`,
      ),
  };
}

async function listObjects(root: string, prefix: string, { after = "", limit }: Parameters<ObjectStore["list"]>[1]) {
  checkPrefix(prefix);
  await assertThere(root);
  const objects = [];
  for await (const object of listFiles(root, prefix, after)) {
    if (objects.length === limit) return { objects, next: objects.at(-1)?.key ?? null };
    objects.push(object);
  }
  return { objects, next: null };
}

/** The files of the store, for programs that read and write paths. */
function folderOf(root: string, pathOf: (key: string) => string): ObjectFolder {
  return {
    pathOf,
    newPath: () => join(root, incoming, randomUUID()),
    async adopt(key, file, options) {
      const path = pathOf(key);
      try {
        if (!options.isExpendable) await syncFile(file);
        return await place(root, file, path, options);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EXDEV") throw error;
        await unlink(file).catch(() => {});
        throw explained(error);
      }
    },
  };
}

type Placing = Pick<PutOptions, "ifAbsent" | "isExpendable">;

/** Moves a complete file to its key. */
async function place(root: string, file: string, path: string, { ifAbsent = false, isExpendable }: Placing) {
  await makeFolder(root, dirname(path), { isSynced: !isExpendable });
  const created = await moveIn(file, path, ifAbsent);
  if (!isExpendable) await syncFolder(dirname(path));
  return { etag: headOf(await stat(path)).etag, created };
}

async function write(path: string, source: Parameters<ObjectStore["put"]>[1], options: PutOptions): Promise<void> {
  const file = await open(path, "wx", 0o600);
  const target = file.createWriteStream({ flush: !options.isExpendable }); // fsync before it closes
  await pipeline(verifiedContent(source, options), target, options.signal ? { signal: options.signal } : {});
}

/** Gives the bytes their name in one step; returns false when the name is taken and must stay as it is. */
async function moveIn(aside: string, path: string, ifAbsent: boolean): Promise<boolean> {
  if (!ifAbsent) {
    await rename(aside, path);
    return true;
  }
  const created = await link(aside, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
  await unlink(aside);
  return created;
}

/** Creates the folders of a key and syncs their parents, or a power cut could lose the object with them. */
async function makeFolder(root: string, folder: string, { isSynced }: { isSynced: boolean }): Promise<void> {
  const created = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (created === undefined || !isSynced) return;
  for (let parent = dirname(folder); parent.length >= root.length; parent = dirname(parent)) await syncFolder(parent);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  await file.sync().finally(() => file.close());
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

const headOf = ({ size, mtimeMs, ino }: Stats): ObjectHead => ({
  size,
  etag: `${ino.toString(36)}-${Math.round(mtimeMs * 1000).toString(36)}-${size.toString(36)}`,
  modifiedAt: new Date(trueMs(mtimeMs)),
});

/** A missing file is null, but a missing store is an outage: a folder that is not mounted must not read as empty. */
const absentAsNull = (root: string) => async (error: NodeJS.ErrnoException) => {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw explained(error);
  await assertThere(root);
  return null;
};

async function assertThere(root: string): Promise<void> {
  await access(join(root, incoming)).catch((cause: unknown) => {
    throw storeAway(cause);
  });
}

/** A store whose folder is missing, full or broken is unavailable; other errors are the caller's. */
function explained(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  const folderGone = code === "ENOENT" && path?.includes(incoming);
  return folderGone || awayCodes.includes(code ?? "") ? storeAway(error) : error;
}

/**
 * Returns first and last byte of the range within `size` bytes, truncated at the end. Throws `UnsatisfiableRange` for
 * an empty one.
 */
function resolveRange(range: ByteRange | undefined, size: number): { start: number; end: number } {
  if (!range) return { start: 0, end: size - 1 };
  const start = "suffix" in range ? Math.max(0, size - range.suffix) : range.start;
  const end = "suffix" in range ? size - 1 : Math.min(range.end ?? size - 1, size - 1);
  if (start > end || start >= size) throw new UnsatisfiableRange(size);
  return { start, end };
}

/**
 * Lists the files under `root` whose keys begin with `prefix` and follow `after`, in key order. A folder sorts as its
 * name and "/", because that is the place of its keys: `a-b`, `a/b`, `a0`.
 */
async function* listFiles(root: string, prefix: string, after: string): AsyncGenerator<StoredObject> {
  yield* walk(root, prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix, after);
}

async function* walk(root: string, folder: string, prefix: string, after: string): AsyncGenerator<StoredObject> {
  for (const name of await namesIn(join(root, folder))) {
    const key = folder + name;
    if (key.endsWith("/")) {
      const reaches = key.startsWith(prefix) || prefix.startsWith(key);
      const passed = key < after && !after.startsWith(key);
      if (reaches && !passed) yield* walk(root, key, prefix, after);
    } else if (key.startsWith(prefix) && key > after) {
      const found = await stat(join(root, key)).catch(() => null); // deleted during the listing
      if (found) yield { key, size: found.size, modifiedAt: new Date(trueMs(found.mtimeMs)) };
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const visible = entries.filter(({ name }) => !name.startsWith("."));
  return visible.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

/** Removes the files of `folder` that were last written before `beforeMs`. */
async function removeOldFiles(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null); // another process removes old files as well
    if (found && trueMs(found.mtimeMs) < beforeMs) await unlink(path).catch(() => {});
  }
}
