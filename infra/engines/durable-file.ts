import { chmod, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a small file as a whole and for good, readable by this account alone: the text is written aside, reaches the
 * disk, and takes the name in one step. A process that is killed on the way leaves the old file, or none. One writer at a time.
 */
export async function writeDurably(file: string, text: string): Promise<void> {
  const aside = `${file}.unfinished`;
  const handle = await open(aside, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(aside, 0o600); // one that a killed writer left behind may have another mode
  await rename(aside, file);
  await syncFolder(dirname(file));
}

/** The bytes of a file; `null` when there is none. */
export async function readIfThere(file: string): Promise<Buffer | null> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** The text of a small file; `null` when it is absent, empty, or not what `isWhole` wants: cut off, or zeros after a power loss. */
export async function readWhole(file: string, isWhole: (text: string) => boolean): Promise<string | null> {
  const text = String((await readIfThere(file)) ?? "").trim();
  return text !== "" && isWhole(text) ? text : null;
}

/** The value of a file of JSON; `null` when it is absent or damaged. The caller knows its type. */
export async function readJson<T>(file: string): Promise<T | null> {
  const text = String((await readIfThere(file)) ?? "");
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** Without this a new name may be gone after a power loss, though the file behind it is on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return; // a folder cannot be opened there
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
