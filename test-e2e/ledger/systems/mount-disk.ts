import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Mounts a small file system that a fault can fill, which needs root; without it there is no disk to fill. */
export async function mountDisk(
  folder: string,
  bytes: number,
  kind: "tmpfs" | "ext4" = "tmpfs",
): Promise<string | null> {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return null;
  await mkdir(folder, { recursive: true });
  if (kind === "tmpfs") await run("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=755`, "ledger", folder]);
  else {
    const image = `${folder}.image`;
    await run("truncate", ["--size", String(bytes), image]);
    await run("mkfs.ext4", ["-q", "-m", "0", image]);
    await run("mount", ["-o", "loop", image, folder]);
  }
  return folder;
}
