import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "@signalbox/core";
import { sniffBytes } from "@signalbox/imaging";
import type { Runner } from "@signalbox/runtime";

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
  /** Where the folder is made; null for the system's temporary folder. */
  readonly directory: string | null;
  readonly bytesMax: () => number;
  readonly runner: Pick<Runner, "defer">;
}

/** Opens the folder where files wait to be judged. It is this process's own and goes with it. */
export async function openStagingArea({ directory, bytesMax, runner }: Options): Promise<StagingArea> {
  const folder = await mkdtemp(join(directory ?? tmpdir(), "signalbox-uploads-"));
  runner.defer("staging area", () => rm(folder, { recursive: true, force: true }));

  return {
    bytesMax,
    async stage(source) {
      const path = join(folder, randomUUID());
      const discard = () => rm(path, { force: true });
      const meter = createMeter(bytesMax());
      try {
        await pipeline(source, meter.stream, createWriteStream(path, { flags: "wx", mode: 0o600 }));
      } catch (error) {
        await discard();
        throw error;
      }
      return { path, discard, ...meter.result() };
    },
  };
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
