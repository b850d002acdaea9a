import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import { isOfDisk } from "../uploads/staging-area.ts";
import type { DirectUpload } from "./direct-upload.ts";
import type { Appended, Piece, UploadTarget } from "./upload-target.ts";

interface Options {
  /** Beside the blobs, so that another process goes on where this one stopped. */
  readonly folder: string;
  readonly baseUrl: string;
  readonly log: Logger;
}

/** What a piece is sent as (draft-ietf-httpbis-resumable-upload). */
export const pieceType = "application/partial-upload";

/** Opens the files that grow by pieces: the size of a file is the offset of the next piece. */
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
        // Another process may be the first as well, so nothing is cut off here.
        const file = await open(pathOf(upload), "a+", 0o600);
        return await appendPiece(file, upload, piece, (work) => inTurn(upload.id, work)).finally(() => file.close());
      } catch (error) {
        if (!isOfDisk(error)) throw error;
        log.error({ error, upload_id: upload.id }, "a piece of an upload cannot be kept on disk");
        throw new AppError("unavailable", "The bytes cannot be kept right now.", {
          cause: error,
          retryAfterSeconds: 30,
        });
      }
    },
  };
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Writes the piece while it arrives, and looks before every write that nobody else has grown the file: of two requests
 * one goes on. What came before a connection broke off stays; a piece that is refused leaves nothing.
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

/** What is told to a client that sends more than it announced. */
export function beyondAnnounced({ sizeBytes }: DirectUpload): AppError {
  return new AppError("image_too_large", `The upload was announced with ${sizeBytes} bytes.`);
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<true> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
  return true;
}

/** Creates what lets one at a time work on what has the same name. */
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
