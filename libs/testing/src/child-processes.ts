import { readFile } from "node:fs/promises";
import process from "node:process";

/**
 * Lists the ids of this process's children whose command line contains the text; with `busyMs` only those that have
 * used that much processor time, which excludes those that have just started.
 */
export async function childProcesses(command: string, { busyMs = 0 } = {}): Promise<number[]> {
  const used = await processorMsOfChildren(command);
  return [...used].filter(([, usedMs]) => usedMs >= busyMs).map(([id]) => id);
}

/**
 * Returns the processor time in milliseconds of this process's children whose command line contains the text, by their
 * ids. Reads /proc, so there are none on other systems than Linux.
 */
export async function processorMsOfChildren(command: string): Promise<ReadonlyMap<number, number>> {
  const ids = (await read(`/proc/self/task/${process.pid}/children`)).trim().split(/\s+/).filter(Boolean).map(Number);
  const used = await Promise.all(
    ids.map(async (id) => {
      const [line, stat] = await Promise.all([read(`/proc/${id}/cmdline`), read(`/proc/${id}/stat`)]);
      // proc(5): user time in hundredths of a second is the 14th field; the second may hold spaces.
      const usedMs = Number(stat.split(") ")[1]?.split(" ")[11] ?? 0) * 10;
      return line.includes(command) ? [[id, usedMs] as const] : [];
    }),
  );
  return new Map(used.flat());
}

/** Kills a process and returns true when it still ran: idle and old children exit by themselves. */
export function killProcess(id: number): boolean {
  try {
    return process.kill(id, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

// A child may exit before it is read.
const read = (path: string): Promise<string> => readFile(path, "latin1").catch(() => "");
