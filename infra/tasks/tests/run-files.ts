import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { after, suite } from "node:test";
import { pathToFileURL } from "node:url";
import { environment } from "@signalbox/runtime";
import { root } from "../../generate/repository.ts";

/** One line of the file that `TEST_TIMES_FILE` names. Processor time is this process's; PostgreSQL's is not in it. */
export interface FileTimes {
  readonly file: string;
  /** Loading its modules and the set-up at its top level. */
  readonly loadMs: number;
  readonly totalMs: number;
  readonly cpuMs: number;
}

/** Longer than a connection that is closing in order stays open. */
const stuckMs = 30_000;

/**
 * Runs test files in this process, each as a suite of its own, so that its `before` and `after` are its own. The next file
 * is loaded when the one before has ended: a harness that a file starts at its top level never runs beside another's.
 *
 * @public The generated scripts of `bundles.ts` import it.
 */
export async function runFiles(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const startedMs = performance.now();
    const startedCpu = process.cpuUsage();
    let loadedMs = startedMs;
    const ended = Promise.withResolvers<void>();
    suite(file, async () => {
      try {
        await import(pathToFileURL(join(root, file)).href);
      } finally {
        loadedMs = performance.now();
        // Hooks run in the order in which they were made: this one comes after those of the file.
        after(() => ended.resolve());
      }
    });
    await ended.promise;
    const { user, system } = process.cpuUsage(startedCpu);
    await keep({
      file,
      loadMs: loadedMs - startedMs,
      totalMs: performance.now() - startedMs,
      cpuMs: (user + system) / 1000,
    });
  }
  endWhenStuck(files);
}

/** A process ends by itself when its tests are over. One that holds something open would hold the whole run: it fails. */
function endWhenStuck(files: readonly string[]): void {
  setTimeout(() => {
    console.error(`Still open after ${files.join(", ")}: ${process.getActiveResourcesInfo().join(", ")}`);
    process.exit(1);
  }, stuckMs).unref();
}

async function keep(times: FileTimes): Promise<void> {
  const path = environment().TEST_TIMES_FILE;
  if (path) await appendFile(path, `${JSON.stringify(times)}\n`);
}
