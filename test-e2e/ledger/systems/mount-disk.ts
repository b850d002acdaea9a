import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";

/** Mounts a small file system that a fault can fill, which needs root; without it there is no disk to fill. */
export async function mountDisk(folder: string, bytes: number): Promise<string | null> {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return null;
  await mkdir(folder, { recursive: true });
  await promisify(execFile)("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=755`, "ledger", folder]);
  return folder;
}
