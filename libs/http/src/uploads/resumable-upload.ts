import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, stat, truncate } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { AppError } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { badRequest } from "./bad-request.ts";
import type { DigestCheck } from "./digest-check.ts";
import { asDiskFailure } from "./staging-area.ts";
import type { Checksum } from "./tus.ts";

/** Media type of a piece (draft-ietf-httpbis-resumable-upload). */
export const pieceType = "application/partial-upload";

/** A part of an upload, as sent in one request. */
export interface Piece {
  /** Number of bytes before it. */
  readonly offset: number;
  readonly source: Readable;
  /** A piece with another digest is dropped. */
  readonly digest: DigestCheck;
  /** A piece with another checksum is dropped. */
  readonly checksum: Checksum | null;
}

export type Appended =
  | { readonly outcome: "appended"; readonly received: number }
  | { readonly outcome: "other-checksum" }
  /** The file has this many bytes: the piece has another offset, or a concurrent request was faster. */
  | { readonly outcome: "other-offset"; readonly received: number };

/** An upload while its pieces arrive. */
interface GrowingFile {
  readonly id: string;
  readonly sizeBytes: number;
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Uploads in pieces, a file each: its size is the offset of the next piece. */
export class ResumableFiles {
  readonly #folder: string;
  readonly #log: Logger;
  /** The last write of each file: work on one file runs one at a time. */
  readonly #turns = new Map<string, Promise<unknown>>();

  private constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Opens a folder, which processes may share: another one can continue an upload. */
  static async open(folder: string, log: Logger): Promise<ResumableFiles> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new ResumableFiles(folder, log);
  }

  /** Returns the number of received bytes. */
  async receivedOf(id: string): Promise<number> {
    return (await stat(this.#pathOf(id)).catch(absentAsNull))?.size ?? 0;
  }

  /** Reads the received bytes; null when there are none. */
  async read(id: string): Promise<Readable | null> {
    return (await stat(this.#pathOf(id)).catch(absentAsNull)) && createReadStream(this.#pathOf(id));
  }

  remove(id: string): Promise<void> {
    return rm(this.#pathOf(id), { force: true });
  }

  /** Appends a piece. @throws AppError for one that is refused, and `unavailable` when the disk fails. */
  async append(upload: GrowingFile, piece: Piece): Promise<Appended> {
    const { id } = upload;
    try {
      // Another process may write the first piece as well, so nothing is truncated here.
      const file = await open(this.#pathOf(id), "a+", 0o600);
      return await appendPiece(file, upload, piece, (work) => this.#inTurn(id, work)).finally(() => file.close());
    } catch (error) {
      throw asDiskFailure(error, this.#log, "The bytes cannot be stored right now.", { upload_id: id });
    }
  }

  /** Drops the bytes from this offset on, which are sent again. */
  async shorten(id: string, offset: number): Promise<void> {
    const isLonger = async () => (await this.receivedOf(id)) > offset;
    await this.#inTurn(id, async () => void ((await isLonger()) && (await truncate(this.#pathOf(id), offset))));
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#turns.get(id) ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#turns.set(id, settled);
    void settled.then(() => this.#turns.get(id) === settled && this.#turns.delete(id));
    return result;
  }

  #pathOf(id: string): string {
    return join(this.#folder, id);
  }
}

/**
 * Writes the piece while it arrives and checks before every write that no other request has grown the file: of two
 * requests one continues. Bytes from before a broken connection stay; a refused piece leaves nothing.
 */
async function appendPiece(file: FileHandle, upload: GrowingFile, piece: Piece, inTurn: InTurn): Promise<Appended> {
  const { offset, source, digest, checksum } = piece;
  let received = offset;
  const isMine = async () => (await file.stat()).size === received;
  const drop = () => inTurn(async () => void ((await isMine()) && (await file.truncate(offset))));
  if (!(await inTurn(isMine))) return { outcome: "other-offset", received: (await file.stat()).size };
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (received + chunk.length > upload.sizeBytes) throw beyondAnnounced(upload);
      const isWritten = await inTurn(async () => (await isMine()) && (await writeAll(file, chunk)));
      if (!isWritten) return { outcome: "other-offset", received: (await file.stat()).size };
      received += chunk.length;
      digest.update(chunk);
      checksum?.update(chunk);
    }
    digest.verify();
  } catch (error) {
    if (error instanceof AppError) await drop();
    throw error;
  }
  if (checksum?.matches() === false) {
    await drop();
    return { outcome: "other-checksum" };
  }
  return { outcome: "appended", received };
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<true> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
  return true;
}

function absentAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Builds the error for a client that sends more than it announced. */
export function beyondAnnounced({ sizeBytes }: { readonly sizeBytes: number }): AppError {
  return new AppError("image_too_large", `The upload was announced with ${sizeBytes} bytes.`);
}

/** Builds the headers for the progress of an upload. */
export function progressHeaders(sizeBytes: number, received: number): Record<string, string> {
  return {
    "Upload-Offset": String(received),
    "Upload-Length": String(sizeBytes),
    "Upload-Complete": received === sizeBytes ? "?1" : "?0",
  };
}

/** Reads `Upload-Offset`. @throws AppError `invalid_request` for anything but a number of bytes. */
export function uploadOffsetIn(headers: IncomingHttpHeaders): number {
  const given = String(headers["upload-offset"] ?? "");
  if (/^\d{1,10}$/.test(given)) return Number(given);
  throw badRequest("upload-offset", "required", "Must be the number of bytes before this chunk.");
}
