import { chmod, mkdir } from "node:fs/promises";
import process from "node:process";

/**
 * Makes the folder of everything that outlives the process, for this user alone. When that is root, others may pass
 * through without seeing what is there: the database server inside runs under an account that is not root.
 */
export async function makeDataDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}
