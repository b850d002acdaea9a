import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import type { DirectUpload } from "../state/direct-upload.ts";
import { asDiskFailure } from "../state/staging-area.ts";
import type { Appended, Piece, UploadTarget } from "../state/upload-target.ts";

interface Options {
  /** Shared and beside the blobs, so that another process can continue an upload. */
  readonly folder: string;
  readonly baseUrl: string;
  readonly log: Logger;
}

/** Media type of a piece (draft-ietf-httpbis-resumable-upload). */
export const pieceType = "application/partial-upload";

/** Opens the target for uploads in pieces: the size of a file is the offset of the next piece. */
export async function openResumableTarget({ folder, baseUrl, log }: Options): Promise<UploadTarget> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pathOf = ({ id }: DirectUpload): string => join(folder, id);
  const inTurn = createTurns();

  return {
    termsOf: ({ id }) => ({
      method: "PATCH",
      url: `${baseUrl}/images/uploads/${id}`,
      headers: { "Content-Type": pieceType, "Upload-Offset": "0" },
    }),
    async receivedOf(upload) {
      return (await stat(pathOf(upload)).catch(absentAsNull))?.size ?? 0;
    },
    async read(upload) {
      return (await stat(pathOf(upload)).catch(absentAsNull)) && createReadStream(pathOf(upload));
    },
    remove: (upload) => rm(pathOf(upload), { force: true }),
    async append(upload, piece) {
      try {
        // Another process may write the first piece as well, so nothing is truncated here.
        const file = await open(pathOf(upload), "a+", 0o600);
        return await appendPiece(file, upload, piece, (work) => inTurn(upload.id, work)).finally(() => file.close());
      } catch (error) {
        throw asDiskFailure(error, log, "The bytes cannot be stored right now.", { upload_id: upload.id });
      }
    },
  };
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Writes the piece while it arrives and checks before every write that no other request has grown the file: of two
 * requests one continues. Bytes from before a broken connection stay; a refused piece leaves nothing.
 */
async function appendPiece(file: FileHandle, upload: DirectUpload, piece: Piece, inTurn: InTurn): Promise<Appended> {
  const { offset, source, digest } = piece;
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
    }
    digest.verify();
  } catch (error) {
    if (error instanceof AppError) await drop();
    throw error;
  }
  return { outcome: "appended", received };
}

/** Builds the error for a client that sends more than it announced. */
export function beyondAnnounced({ sizeBytes }: DirectUpload): AppError {
  return new AppError("image_too_large", `The upload was announced with ${sizeBytes} bytes.`);
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<true> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
  return true;
}

/** Creates a queue per name: work with the same name runs one at a time. */
function createTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const result = (last.get(name) ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
    last.set(name, settled);
    void settled.then(() => last.get(name) === settled && last.delete(name));
    return result;
  };
}

function absentAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
