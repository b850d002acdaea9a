import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { ChildMessage, ChildOutcome, ImageJob, JobResults } from "../formats/image-jobs.ts";
import { assertUntrustedLoadersBlocked, installedRelease } from "./codec.ts";
import { withHeicDecoded } from "./decode-heic.ts";
import { withEndMarker } from "./end-marker.ts";
import { lookAtImage, readFacts } from "./look-at-image.ts";
import { renderImage } from "./render-image.ts";

/** The only program that loads the decoder: a child of the pool, which runs one job at a time and may crash. */

const send = (message: ChildMessage): void => void process.send?.(message);

// Its files are readable by the owner only, like everything in the blob store.
process.umask(0o077);
// Its parent has ended. Not `exit`, which would wait for the decoder.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", (job: ImageJob) => void answer(job));

assertUntrustedLoadersBlocked().then(
  () => send({ kind: "ready", release: installedRelease, dataBytes: memoryOf("VmData") }),
  (error: Error) => send({ kind: "unfit", reason: error.message }),
);

async function answer(job: ImageJob): Promise<void> {
  send({ kind: "started" });
  forgetPeak();
  const outcome = await withHeicDecoded(job, (ready) => withEndMarker(ready, work)).then(
    (result) => ({ outcome: "rendered", result }) as const,
    (error: Error) => outcomeOf(error, job),
  );
  const residentBytes = memoryOf("VmRSS") || process.memoryUsage.rss();
  send({ kind: "answer", answer: outcome, residentBytes, peakBytes: memoryOf("VmHWM") || residentBytes });
}

function work(job: ImageJob): Promise<JobResults[ImageJob["kind"]]> {
  switch (job.kind) {
    case "header":
      return readFacts(job.source, job.format);
    case "look":
      return lookAtImage(job);
    case "render":
      return renderImage(job);
  }
}

/**
 * Converts an error to an outcome. The codec's message is only logged: it reveals internals and changes with versions.
 */
async function outcomeOf(error: NodeJS.ErrnoException, job: ImageJob): Promise<ChildOutcome> {
  const { message, syscall } = error;
  const reason = message.slice(0, 300);
  // The codec's message names the file that could not be written, as on a full disk.
  const isUnwritten = job.kind === "render" && message.includes(`${job.target}: `);
  if (isUnwritten || syscall !== undefined) return { outcome: "machine-fault", reason };
  if (/(out of|insufficient) memory|memory allocation|cannot allocate|malloc|bad_alloc/i.test(message))
    return { outcome: "out-of-memory", reason };
  // The codec calls a file that it cannot read an unknown format, as when the process has no descriptor left.
  const unreadable = await readingFailure(job.source);
  return unreadable === null ? { outcome: "broken", reason } : { outcome: "machine-fault", reason: unreadable };
}

/** Returns the reason why the file cannot be read to its end, or null. */
async function readingFailure(path: string): Promise<string | null> {
  try {
    for await (const _ of createReadStream(path));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Resets the peak of resident memory to the current value (proc(5): 5). */
function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Not on Linux, or not permitted: the peak is then that of the whole process.
  }
}

function memoryOf(name: "VmData" | "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync("/proc/self/status", "latin1");
    return 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
