import { chmod, mkdir } from "node:fs/promises";
import process from "node:process";
import { readWhole, writeDurably } from "../engines/durable-file.ts";

/**
 * Makes the folder of everything that outlives the process, for this user alone. When that is root, others may pass
 * through without seeing what is there: the database server inside runs under an account that is not root.
 */
export async function makeDataDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/**
 * The secret in `file`. When it is absent, or not what `isWhole` wants because a killed start cut it off, `create` makes
 * another one that is kept before it is used.
 */
export async function keptSecret(
  file: string,
  isWhole: (secret: string) => boolean,
  create: () => string | Promise<string>,
): Promise<string> {
  const kept = await readWhole(file, isWhole);
  if (kept !== null) return kept;
  const made = await create();
  await writeDurably(file, `${made}\n`);
  return made;
}
