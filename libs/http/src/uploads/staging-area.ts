import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "@signalbox/core";
import type { Logger, ShutdownHooks } from "@signalbox/runtime";
import { openPrivateDirectory } from "@signalbox/storage";

/** A completely received file before it is used. Its holder discards it. */
export interface StagedFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Its first bytes, for detecting the type. */
  readonly head: Buffer;
  discard(): Promise<void>;
}

/** A staged file with its name. */
export interface ArrivedFile {
  readonly file: StagedFile;
  /** The source's name for it, without folders; "" when unknown. */
  readonly filename: string;
}

export interface StagingArea {
  /**
   * Writes a stream to a file, counting and hashing while it arrives. A truncated or too large one leaves nothing.
   * @throws AppError that `tooLarge` builds, at the first byte beyond the limit.
   */
  stage(source: Readable): Promise<StagedFile>;
}

interface Options {
  /** The parent folder. */
  readonly directory: string;
  /** Largest size of a file. */
  readonly bytesMax: () => number;
  readonly tooLarge: (bytesMax: number) => AppError;
  /** Number of first bytes that are kept. */
  readonly headBytes: number;
  readonly runner: ShutdownHooks;
  readonly log: Logger;
}

/**
 * Opens the folder of files that wait to be judged. It belongs to this process and is removed with it; the leftovers of
 * a killed process are removed at the next start.
 */
export async function openStagingArea(options: Options): Promise<StagingArea> {
  const { directory, bytesMax, tooLarge, headBytes, runner, log } = options;
  const folder = await openPrivateDirectory(directory, "signalbox-uploads", runner);

  return {
    async stage(source) {
      const path = join(folder, randomUUID());
      const discard = () => rm(path, { force: true });
      const meter = createMeter(headBytes, bytesMax(), tooLarge);
      const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
      try {
        await pipeline(source, meter.stream, file);
      } catch (error) {
        await discard();
        throw asDiskFailure(error, log, "The file cannot be stored right now.");
      }
      return { path, discard, ...meter.result() };
    },
  };
}

/**
 * Converts a failure of the file system, which names its call, to a refusal with this message, and logs it. Another
 * error is returned as it is.
 */
export function asDiskFailure(error: unknown, log: Logger, message: string, members: object = {}): unknown {
  const { syscall = "" } = error as NodeJS.ErrnoException;
  if (!["open", "write", "close", "fstat", "ftruncate"].includes(syscall)) return error;
  log.error({ error, ...members }, "storing an upload on disk failed");
  return new AppError("unavailable", message, { cause: error, retryAfterSeconds: 30 });
}

function createMeter(headBytes: number, bytesMax: number, tooLarge: Options["tooLarge"]) {
  const hash = createHash("sha256");
  const first: Buffer[] = [];
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (bytes < headBytes) first.push(chunk.subarray(0, headBytes - bytes));
      bytes += chunk.length;
      if (bytes > bytesMax) return done(tooLarge(bytesMax));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest("hex"), head: Buffer.concat(first) }) };
}
