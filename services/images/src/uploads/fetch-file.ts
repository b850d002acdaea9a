import { PassThrough } from "node:stream";
import { AppError, type DetailCode, detailCodes } from "@signalbox/core";
import { isOutboundError, type OutboundClient, type OutboundError } from "@signalbox/net";
import type { ArrivedFile, StagingArea } from "./staging-area.ts";

export interface FileSource {
  readonly outbound: OutboundClient;
  readonly staging: StagingArea;
  readonly importDeadlineMs: () => number;
}

const redirectsMax = 3;

/**
 * Fetches a file from a URL of the client's choice, through the outbound guard. Its name is the last segment of the
 * path.
 * @throws AppError `validation_error` for a forbidden URL, `image_too_large`, `bad_gateway` when the source cannot be
 * reached or sends no file.
 */
export async function fetchFile(source: FileSource, sourceUrl: string, signal: AbortSignal): Promise<ArrivedFile> {
  const { outbound, staging, importDeadlineMs } = source;
  const problem = outbound.check(sourceUrl);
  if (problem) throw refusedUrl(problem.message, problem.code);
  const body = new PassThrough();
  const staged = staging.stage(body);
  staged.catch(() => {});
  try {
    const response = await outbound.request({
      url: sourceUrl,
      headers: { accept: "image/avif,image/webp,image/*;q=0.9,*/*;q=0.1" },
      deadlineMs: importDeadlineMs(),
      responseBytesMax: staging.bytesMax(),
      followRedirects: redirectsMax,
      signal,
      bodyTo: body,
    });
    if (response.status !== 200) throw sourceFailed(`The source answered with status ${response.status}.`);
    body.end();
    return { file: await staged, filename: filenameOf(response.url) };
  } catch (error) {
    body.destroy(error as Error);
    const file = await staged.catch(() => null);
    await file?.discard();
    throw isOutboundError(error) ? refusalOf(error) : error;
  }
}

function refusalOf(error: OutboundError): AppError {
  switch (error.stage) {
    case "forbidden":
      return refusedUrl(error.message, isDetailCode(error.code) ? error.code : "address", error);
    case "too-large":
      return new AppError("image_too_large", error.message, { cause: error });
    default:
      return sourceFailed(error.message, error);
  }
}

/** Every reason that forbids a target, its address or its syntax, has a documented code. */
const isDetailCode = (code: string): code is DetailCode => detailCodes.some((known) => known === code);

function refusedUrl(message: string, code: DetailCode, cause?: unknown): AppError {
  const details = [{ field: "source_url", code, message }];
  return new AppError("validation_error", "The image cannot be imported from there.", { details, cause });
}

function sourceFailed(message: string, cause?: unknown): AppError {
  return new AppError("bad_gateway", message, { field: "source_url", cause });
}

function filenameOf(url: string): string {
  const segment = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(segment).replace(/[/\\]/g, "_");
  } catch {
    return "";
  }
}
