import { readFile } from "node:fs/promises";
import process from "node:process";

/**
 * The ids of this process's children whose command line contains the text. With `busyMs` only those that used so much
 * processor time: not one that has just started. Reads /proc, so there are none where the kernel is not Linux.
 */
export async function childProcesses(command: string, { busyMs = 0 } = {}): Promise<number[]> {
  const ids = (await read(`/proc/self/task/${process.pid}/children`)).trim().split(/\s+/).filter(Boolean).map(Number);
  const isWanted = await Promise.all(
    ids.map(async (id) => {
      const [line, stat] = await Promise.all([read(`/proc/${id}/cmdline`), read(`/proc/${id}/stat`)]);
      // proc(5): user time in hundredths of a second is the 14th field; the second may hold spaces.
      const usedMs = Number(stat.split(") ")[1]?.split(" ")[11] ?? 0) * 10;
      return line.includes(command) && usedMs >= busyMs;
    }),
  );
  return ids.filter((_, index) => isWanted[index]);
}

/** Kills a process, and says whether it was still there: idle and old children leave by themselves. */
export function killProcess(id: number): boolean {
  try {
    return process.kill(id, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

// A child may be gone by the time that it is looked at.
const read = (path: string): Promise<string> => readFile(path, "latin1").catch(() => "");
