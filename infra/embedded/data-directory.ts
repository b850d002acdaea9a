import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

/**
 * Makes the folder of everything that outlives the process, for this user alone. When that is root, others may pass
 * through without seeing what is there: the database server inside runs under an account that is not root.
 */
export async function makeDataDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** The text in `file`, which is made by `create` and written for this user alone when it is not there yet. */
export async function keptSecret(file: string, create: () => string | Promise<string>): Promise<string> {
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (kept !== null) return kept.trim();
  const made = await create();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${made}\n`, { mode: 0o600, flag: "wx" });
  await chmod(file, 0o600);
  return made;
}
