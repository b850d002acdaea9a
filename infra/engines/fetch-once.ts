import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { minutes } from "@signalbox/core";
import { withFileLock } from "./file-lock.ts";

/**
 * Fills the folder `target` unless it is there already. Several processes may ask at once. `fill` works in a folder
 * beside that is renamed at the end, so that a fetch that was cut short is never taken for the whole.
 */
export async function fetchOnce(target: string, fill: (folder: string) => Promise<unknown>): Promise<void> {
  if (existsSync(target)) return;
  await withFileLock(`${target}.lock`, minutes(15), async () => {
    if (existsSync(target)) return;
    const unfinished = `${target}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    await fill(unfinished);
    await rename(unfinished, target);
  });
}
