import { PassThrough } from "node:stream";
import { AppError, type DetailCode, detailCodes } from "@signalbox/core";
import { isOutboundError, type OutboundError, shownFailure } from "@signalbox/net";
import type { ImagesService } from "../context/images-service.ts";
import type { ArrivedFile } from "../state/staging-area.ts";
import { type RefusedFile, refusedFile } from "./originals.ts";

const redirectsMax = 3;

/**
 * Fetches a file from a URL of the client's choice, through the outbound guard. Its name is the last segment of the
 * path. A forbidden URL and a file that is too large are refused.
 * @throws AppError `bad_gateway` when the source cannot be reached or sends no file.
 */
export async function fetchFile(
  service: ImagesService,
  sourceUrl: string,
  signal: AbortSignal,
): Promise<ArrivedFile | RefusedFile> {
  const { configuration, outbound, staging } = service;
  const problem = outbound.check(sourceUrl);
  if (problem) return refusedUrl(problem.message, problem.code);
  const body = new PassThrough();
  const staged = staging.stage(body);
  staged.catch(() => {});
  try {
    const response = await outbound.request({
      url: sourceUrl,
      headers: { accept: "image/avif,image/webp,image/*;q=0.9,*/*;q=0.1" },
      deadlineMs: configuration.get("images.import.deadline"),
      responseBytesMax: configuration.get("limits.maxUploadBytes"),
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
    if (!isOutboundError(error)) throw error;
    return refusalOf(error);
  }
}

/** Refuses what the client can change. @throws AppError `bad_gateway` for a failure of the source. */
function refusalOf(error: OutboundError): RefusedFile {
  const { stage, code, message } = shownFailure(error);
  switch (stage) {
    case "forbidden":
      return refusedUrl(message, isDetailCode(code) ? code : "address");
    case "too-large":
      return refusedFile({ code: "image_too_large", message });
    default:
      throw sourceFailed(message, error);
  }
}

/** Every reason that forbids a target, its address or its syntax, has a documented code. */
const isDetailCode = (code: string): code is DetailCode => detailCodes.some((known) => known === code);

function refusedUrl(message: string, code: DetailCode): RefusedFile {
  const details = [{ field: "source_url", code, message }];
  return refusedFile({ code: "validation_error", message: "The image cannot be imported from there.", details });
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
