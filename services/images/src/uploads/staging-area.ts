import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
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

/**
 * Opens the folder where files wait to be judged. It is this process's own and goes with it; what processes of this host
 * left there when they were killed goes first.
 */
export async function openStagingArea({ directory, bytesMax, runner }: Options): Promise<StagingArea> {
  const parent = directory ?? tmpdir();
  await removeLeftBehind(parent);
  const folder = await mkdtemp(join(parent, `${namesOfHost}${process.pid}-`));
  own.add(basename(folder));
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

/** Another host, or another container, cannot tell which processes live here. */
const namesOfHost = `signalbox-uploads-${encodeURIComponent(hostname())}-`;

/** The folders that this process made. */
const own = new Set<string>();

async function removeLeftBehind(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(namesOfHost)) continue;
    const pid = Number.parseInt(name.slice(namesOfHost.length), 10);
    // A container gives its first process the same pid after each restart.
    const isLeft = pid === process.pid ? !own.has(name) : !isRunning(pid);
    if (isLeft) await rm(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
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
