import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { AppError, KiB } from "@signalbox/core";
import { badRequest } from "./bad-request.ts";
import { expectDigest } from "./digest-check.ts";
import type { ArrivedFile, StagedFile, StagingArea } from "./staging-area.ts";
import { boundaryOf, TransportPadding } from "./transport-padding.ts";

export interface ReceivedForm extends ArrivedFile {
  /** The other parts of the form by name, in their order. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** Builds the refusal of a file in another part than `file`. */
type WrongPart = (name: string) => AppError;

/** A text of 2,000 characters in four bytes each is 8 KiB. */
const limits = { fieldNameSize: 100, fieldSize: 64 * KiB, fields: 100, files: 2, parts: 110, headerPairs: 50 };

/**
 * Reads a form with a file (RFC 7578): the part `file` is staged while it arrives, the others are kept in memory,
 * bounded. A file in another part is refused with the error of `wrongPart`. After an error or a disconnect nothing is
 * left behind.
 * @throws AppError `invalid_request` (not multipart, no file, two files, truncated, another digest); those of staging.
 */
export async function receiveForm(
  request: IncomingMessage,
  staging: StagingArea,
  wrongPart: WrongPart,
): Promise<ReceivedForm> {
  const [busboy, padding] = openParser(request);
  const digest = expectDigest(request);
  const form = new Form(staging, wrongPart);
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

/** A form while it arrives. It is read to its end before it is refused, unless its bytes cannot be read or stored. */
class Form {
  readonly #staging: StagingArea;
  readonly #wrongPart: WrongPart;
  readonly #texts = new Map<string, string[]>();
  readonly #streams: Readable[] = [];
  #file: Promise<StagedFile> | null = null;
  #filename = "";
  #refusal: AppError | null = null;

  constructor(staging: StagingArea, wrongPart: WrongPart) {
    this.#staging = staging;
    this.#wrongPart = wrongPart;
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

  async result(): Promise<ReceivedForm> {
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
    this.#refuse(name === "file" ? badRequest("file", "repeated", "Only one file is allowed.") : this.#wrongPart(name));
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
