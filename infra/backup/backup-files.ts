import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";

/** A file of a backup with its size and hash. */
export interface BackupFile {
  /** Path below the folder of the backup. */
  readonly path: string;
  readonly bytes: number;
  /** In hex, of the file on disk. */
  readonly sha256: string;
}

/** The backup is damaged or incomplete. */
export class BackupDamaged extends Error {
  override readonly name = "BackupDamaged";
}

/** Writes a file from a source, and syncs it to the disk. */
export async function writeFileFrom(folder: string, path: string, source: Readable): Promise<BackupFile> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  let bytes = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(source, counted, createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }));
  return { path, bytes, sha256: hash.digest("hex") };
}

/** Writes a compressed file with the output of the work; returns the file and the result of the work. */
export async function writeCompressed<T>(
  folder: string,
  path: string,
  work: (target: Writable) => Promise<T>,
): Promise<{ readonly file: BackupFile; readonly result: T }> {
  const target = new PassThrough();
  const written = writeFileFrom(folder, path, target.pipe(createZstdCompress()));
  const fail = (error: Error) => target.destroy(error);
  written.catch(fail);
  try {
    const result = await work(target);
    target.end();
    return { file: await written, result };
  } catch (error) {
    fail(error as Error);
    throw await written.then(
      () => error,
      (cause: unknown) => cause ?? error,
    );
  }
}

/** Reads a file of `writeCompressed`. A failure of the file fails the stream. */
export function readCompressed(folder: string, path: string): Readable {
  const target = createZstdDecompress();
  pipeline(createReadStream(join(folder, path)), target).catch((error: Error) => target.destroy(error));
  return target;
}

/** Compares a file with its size and hash. @throws BackupDamaged */
export async function verifyFile(folder: string, { path, bytes, sha256 }: BackupFile): Promise<void> {
  const hash = createHash("sha256");
  let found = 0;
  try {
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      found += chunk.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new BackupDamaged(`${path} is missing in ${folder}`);
    throw error;
  }
  if (found !== bytes || hash.digest("hex") !== sha256)
    throw new BackupDamaged(`${path} in ${folder} is damaged: take another backup`);
}
