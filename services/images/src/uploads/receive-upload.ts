import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { AppError, type ErrorDetail, KiB } from "@signalbox/core";
import type { StagedFile, StagingArea } from "./staging-area.ts";

export interface ReceivedUpload {
  readonly file: StagedFile;
  /** As the client calls it, without folders; "" when it does not say. */
  readonly filename: string;
  /** The other parts by name, in the order they came. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** A caption of 2,000 characters in four bytes each is 8 KiB. */
const limits = { fieldNameSize: 100, fieldSize: 64 * KiB, fields: 100, files: 2, parts: 110, headerPairs: 50 };

/**
 * Reads a multipart upload (RFC 7578): the part `file` goes to the staging area while it arrives, the others into memory,
 * bounded. When anything is wrong, or the client goes away, nothing stays behind.
 * @throws AppError `invalid_request` (not multipart, no file, two files, broken off), `image_too_large`.
 */
export async function receiveUpload(
  request: IncomingMessage,
  { staging, bytesMax }: { staging: StagingArea; bytesMax: number },
): Promise<ReceivedUpload> {
  const parts = openParts(request);
  const fields = new Map<string, string[]>();
  let staged: Promise<StagedFile> | undefined;
  let filename = "";
  let refusal: AppError | undefined;

  try {
    await new Promise<void>((resolve, reject) => {
      const streams: Readable[] = [];
      const stop = (error: unknown) => {
        request.unpipe(parts);
        for (const stream of streams) stream.destroy(error as Error);
        reject(error);
      };
      const refuse = (error: AppError) => {
        refusal ??= error;
      };
      parts.on("file", (name, stream, givenName) => {
        streams.push(stream);
        stream.on("error", stop);
        if (name !== "file") {
          refuse(unknownPart(name));
          stream.resume();
        } else if (staged) {
          refuse(badRequest("file", "repeated", "There may be one file."));
          stream.resume();
        } else {
          filename = givenName ?? "";
          staged = staging.stage(stream, bytesMax);
          staged.catch(stop);
        }
      });
      parts.on("field", (name, value, nameCut, valueCut) => {
        if (nameCut || valueCut) refuse(badRequest(name, "too_long", "The part is too long."));
        fields.set(name, [...(fields.get(name) ?? []), value]);
      });
      for (const event of ["fieldsLimit", "filesLimit", "partsLimit"] as const) {
        parts.on(event, () => refuse(badRequest("body", "too_many", "The form has too many parts.")));
      }
      parts.on("finish", resolve);
      parts.on("error", stop);
      request.on("error", stop);
      request.on("close", () => {
        if (!request.complete) stop(new Error("the client went away"));
      });
      request.pipe(parts);
    });
    const file = await staged;
    if (refusal) throw refusal;
    if (!file) throw badRequest("file", "required", "The part `file`, with a file name, is required.");
    return { file, filename, fields };
  } catch (error) {
    await staged?.then(
      (file) => file.discard(),
      () => {},
    );
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_request", "The multipart body is not complete.", { cause: error });
  }
}

function openParts(request: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({ headers: request.headers as BusboyHeaders, limits });
  } catch (cause) {
    throw new AppError("invalid_request", "The multipart body has no boundary.", { cause });
  }
}

function badRequest(field: string, code: string, message: string): AppError {
  return new AppError("invalid_request", message, { details: [{ field, code, message }] });
}

function unknownPart(field: string): AppError {
  const details: ErrorDetail[] = [{ field, code: "unknown_member", message: "Is not a part of this form." }];
  return new AppError("validation_error", "The form has a part that is not known.", { details });
}
