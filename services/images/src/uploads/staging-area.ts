import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "@signalbox/core";
import { sniffBytes } from "@signalbox/imaging";
import type { Runner } from "@signalbox/runtime";
import { openOwnFolder } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";

/** A file that has arrived whole and is not yet anything. Whoever holds it discards it. */
export interface StagedFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Its first bytes, for the signature. */
  readonly head: Buffer;
  discard(): Promise<void>;
}

/** A staged file that came from somewhere. */
export interface ArrivedFile {
  readonly file: StagedFile;
  /** As its source calls it, without folders; "" when it does not say. */
  readonly filename: string;
}

export interface StagingArea {
  /** The most bytes of a file. */
  readonly bytesMax: () => number;
  /**
   * Takes a stream into a file, counting and hashing while it arrives. What breaks off or is too large leaves nothing.
   * @throws AppError `image_too_large` as soon as one byte too many has come.
   */
  stage(source: Readable): Promise<StagedFile>;
}

interface Options {
  /** Where the folder is made. */
  readonly directory: string;
  readonly bytesMax: () => number;
  readonly runner: Pick<Runner, "defer">;
  readonly log: Logger;
}

/**
 * Opens the folder where files wait to be judged. It is this process's own and goes with it; what a killed one left goes
 * when the next one starts.
 */
export async function openStagingArea({ directory, bytesMax, runner, log }: Options): Promise<StagingArea> {
  const folder = await openOwnFolder(directory, "signalbox-uploads", runner);

  return {
    bytesMax,
    async stage(source) {
      const path = join(folder, randomUUID());
      const discard = () => rm(path, { force: true });
      const meter = createMeter(bytesMax());
      const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
      try {
        await pipeline(source, meter.stream, file);
      } catch (error) {
        await discard();
        if (!isOfDisk(error)) throw error;
        log.error({ error }, "an upload cannot be kept on disk");
        throw new AppError("unavailable", "The file cannot be kept right now.", {
          cause: error,
          retryAfterSeconds: 30,
        });
      }
      return { path, discard, ...meter.result() };
    },
  };
}

/** A failure of the file system names its call, one of the connection has another. */
export function isOfDisk(error: unknown): boolean {
  return ["open", "write", "close", "fstat", "ftruncate"].includes((error as NodeJS.ErrnoException).syscall ?? "");
}

function createMeter(bytesMax: number) {
  const hash = createHash("sha256");
  const first: Buffer[] = [];
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (bytes < sniffBytes) first.push(chunk.subarray(0, sniffBytes - bytes));
      bytes += chunk.length;
      if (bytes > bytesMax) return done(new AppError("image_too_large", `An image may have ${bytesMax} bytes.`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest("hex"), head: Buffer.concat(first) }) };
}
