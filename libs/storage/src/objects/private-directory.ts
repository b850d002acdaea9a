import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { hours, systemClock, trueMs } from "@signalbox/core";
import type { ShutdownHooks } from "@signalbox/runtime";

/** Folders of another machine's processes count as abandoned after this age; their use cannot be seen from here. */
const abandonedMs = hours(24);

/**
 * Creates a folder of this process, which is removed with it. Folders of killed processes of this machine are removed
 * first.
 */
export async function openPrivateDirectory(parent: string, name: string, runner: ShutdownHooks): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  // Another host, or another container, cannot see which processes live here.
  const ofHost = `${name}-${encodeURIComponent(hostname())}-`;
  for (const found of await readdir(parent)) {
    if (!found.startsWith(`${name}-`)) continue;
    const isLeft = found.startsWith(ofHost)
      ? isOfTheDead(found, Number.parseInt(found.slice(ofHost.length), 10))
      : await isOld(join(parent, found));
    if (isLeft) await removeIfOurs(join(parent, found));
  }
  const folder = await mkdtemp(join(parent, `${ofHost}${process.pid}-`));
  own.add(basename(folder));
  runner.defer(name, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Removes a folder. One of another user of the machine stays: the next start under that user removes it. */
async function removeIfOurs(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
  });
}

/** The folders that this process created. */
const own = new Set<string>();

/** A container gives its first process the same pid after each restart. */
function isOfTheDead(folder: string, pid: number): boolean {
  return pid === process.pid ? !own.has(folder) : !isAlive(pid);
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && systemClock.nowMs() - trueMs(found.mtimeMs) > abandonedMs;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
