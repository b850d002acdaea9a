import { join } from "node:path";
import { after, suite } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "../../generate/repository.ts";

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
    const ended = Promise.withResolvers<void>();
    suite(file, async () => {
      try {
        await import(pathToFileURL(join(root, file)).href);
      } finally {
        // Hooks run in the order in which they were made: this one comes after those of the file.
        after(() => ended.resolve());
      }
    });
    await ended.promise;
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
