import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { AppError, type DetailCode, type ErrorDetail, KiB } from "@signalbox/core";
import { judge } from "@signalbox/http";
import { expectDigest } from "../state/expect-digest.ts";
import { NewImageFields } from "../state/image-fields.ts";
import type { ArrivedFile, StagedFile, StagingArea } from "../state/staging-area.ts";
import { boundaryOf, TransportPadding } from "./transport-padding.ts";

export interface ReceivedUpload extends ArrivedFile {
  /** The other parts of the form by name, in their order. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** A caption of 2,000 characters in four bytes each is 8 KiB. */
const limits = { fieldNameSize: 100, fieldSize: 64 * KiB, fields: 100, files: 2, parts: 110, headerPairs: 50 };

/**
 * Reads a multipart upload (RFC 7578): the part `file` is staged while it arrives, the others are kept in memory,
 * bounded. After an error or a disconnect nothing is left behind.
 * @throws AppError `invalid_request` (not multipart, no file, two files, truncated, another digest), `image_too_large`.
 */
export async function receiveUpload(request: IncomingMessage, staging: StagingArea): Promise<ReceivedUpload> {
  const [busboy, padding] = openParser(request);
  const digest = expectDigest(request);
  const form = new Form(staging);
  try {
    await form.read(request, busboy, padding);
    digest.verify();
    return await form.result();
  } catch (error) {
    const refusal = (await form.discard()) ?? error;
    if (refusal instanceof AppError) throw refusal;
    throw new AppError("invalid_request", "The multipart body is not complete.", { cause: error });
  }
}

/**
 * Parses the text parts of an upload by the same rules as the members of a JSON body. `tags` may be a JSON array, a
 * list with commas, or one part per tag; every other part must be unique.
 */
export function readUploadFields(parts: ReadonlyMap<string, readonly string[]>): NewImageFields {
  const repeated = [...parts].filter(([name, values]) => name !== "tags" && values.length > 1).map(([name]) => name);
  if (repeated.length > 0) {
    const details = repeated.map((field): ErrorDetail => ({ field, code: "repeated", message: "Duplicate field." }));
    throw new AppError("invalid_request", "A part of the form is repeated.", { details });
  }
  const given = [...parts].map(([name, values]) => [name, name === "tags" ? tagsFrom(values) : values[0]]);
  const judged = judge(NewImageFields, Object.fromEntries(given));
  if (judged.success) return judged.data;
  throw new AppError("validation_error", "A part of the form is not valid.", { details: judged.details });
}

function tagsFrom(values: readonly string[]): unknown {
  const [only = ""] = values;
  if (values.length > 1) return values;
  if (!only.trimStart().startsWith("[")) return only === "" ? [] : only.split(",");
  try {
    return JSON.parse(only);
  } catch {
    return only;
  }
}

/** A form while it arrives. It is read to its end before it is refused, unless its bytes cannot be read or stored. */
class Form {
  readonly #staging: StagingArea;
  readonly #texts = new Map<string, string[]>();
  readonly #streams: Readable[] = [];
  #file: Promise<StagedFile> | null = null;
  #filename = "";
  #refusal: AppError | null = null;

  constructor(staging: StagingArea) {
    this.#staging = staging;
  }

  /** Rejects when the request breaks off or the file cannot be stored. */
  read(request: IncomingMessage, busboy: BusboyInstance, padding: TransportPadding): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const stop = (error: unknown) => {
        request.unpipe(padding);
        padding.unpipe(busboy);
        for (const stream of this.#streams) stream.destroy(error as Error);
        reject(error);
      };
      busboy.on("file", (name, stream, filename) => this.#takeFile(name, stream, filename, stop));
      busboy.on("field", (name, value, nameCut, valueCut) => this.#takeText(name, value, nameCut || valueCut));
      for (const event of ["fieldsLimit", "filesLimit", "partsLimit"] as const) {
        busboy.on(event, () => this.#refuse(badRequest("body", "too_many", "The form has too many parts.")));
      }
      busboy.on("finish", resolve);
      busboy.on("error", stop);
      request.on("error", stop);
      const onClose = () => {
        if (!request.readableEnded) stop(new Error("the client disconnected"));
      };
      request.on("close", onClose);
      // It may have closed before it was read.
      if (request.destroyed) onClose();
      else request.pipe(padding).pipe(busboy);
    });
  }

  async result(): Promise<ReceivedUpload> {
    const file = await this.#file;
    if (this.#refusal) throw this.#refusal;
    if (!file) throw badRequest("file", "required", "The part `file` is required.");
    return { file, filename: this.#filename, texts: this.#texts };
  }

  /** Removes everything, and returns the refusal of the staging area, which the ends of the streams may hide. */
  async discard(): Promise<AppError | null> {
    try {
      await (await this.#file)?.discard();
      return null;
    } catch (error) {
      return error instanceof AppError ? error : null;
    }
  }

  #takeFile(name: string, stream: Readable, filename: string | undefined, stop: (error: unknown) => void): void {
    this.#streams.push(stream);
    stream.on("error", stop);
    if (name === "file" && !this.#file) {
      this.#filename = filename ?? "";
      this.#file = this.#staging.stage(stream);
      this.#file.catch(stop);
      return;
    }
    this.#refuse(name === "file" ? badRequest("file", "repeated", "Only one file is allowed.") : wrongPart(name));
    stream.resume();
  }

  #takeText(name: string, value: string, isCut: boolean): void {
    if (isCut) this.#refuse(badRequest(name, "too_big", "The part is too long."));
    this.#texts.set(name, [...(this.#texts.get(name) ?? []), value]);
  }

  /** Keeps the first refusal. */
  #refuse(error: AppError): void {
    this.#refusal ??= error;
  }
}

function openParser({ headers }: IncomingMessage): readonly [BusboyInstance, TransportPadding] {
  try {
    const busboy = new Busboy({ headers: headers as BusboyHeaders, limits, isPartAFile });
    return [busboy, new TransportPadding(boundaryOf(headers["content-type"]))];
  } catch (cause) {
    throw new AppError("invalid_request", "The multipart body has no boundary.", { cause });
  }
}

/** Takes `file` for a file also without a name, which is optional (RFC 7578 §4.2). */
const isPartAFile = (part?: string, type?: string, filename?: string): boolean =>
  part === "file" || filename !== undefined || type === "application/octet-stream";

function badRequest(field: string, code: DetailCode, message: string): AppError {
  return new AppError("invalid_request", message, { details: [{ field, code, message }] });
}

/** Builds the refusal of a file in another part than `file`. */
function wrongPart(field: string): AppError {
  const isText = Object.hasOwn(NewImageFields.shape, field);
  const message = isText
    ? `The part \`${field}\` is text: send it without a file name, and the image in the part \`file\`.`
    : `The form has no part \`${field}\`: send the image in the part \`file\`.`;
  const details: ErrorDetail[] = [{ field, code: isText ? "invalid" : "unknown_member", message }];
  return new AppError("validation_error", message, { details });
}
