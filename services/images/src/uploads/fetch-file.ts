import { PassThrough } from "node:stream";
import { type DetailCode, detailCodes } from "@signalbox/core";
import type { ArrivedFile } from "@signalbox/http/uploads";
import { isOutboundError, type OutboundError, shownFailure } from "@signalbox/net";
import type { ImagesService } from "../context/images-service.ts";
import { type RefusedFile, refusedFile } from "./originals.ts";

const redirectsMax = 3;

/**
 * Fetches a file from a URL of the client's choice, through the outbound guard. Its name is the last segment of the
 * path. Refused are a forbidden URL, one without a file, a file that is too large, and a source that fails.
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
    if (response.status !== 200) return await leave(refusalOfStatus(response.status));
    body.end();
    return { file: await staged, filename: filenameOf(response.url) };
  } catch (error) {
    if (!isOutboundError(error)) throw await leave(error as Error);
    return await leave(refusalOf(error));
  }

  /** Removes the bytes that have arrived. */
  async function leave<T>(result: T): Promise<T> {
    body.destroy(new Error("the import has ended"));
    const file = await staged.catch(() => null);
    await file?.discard();
    return result;
  }
}

/** Refuses an answer without a file: a dead address is the client's to change, a source that is down is not. */
function refusalOfStatus(status: number): RefusedFile {
  const message = `The source answered with status ${status}.`;
  const isDead = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return isDead ? refusedUrl(message, "invalid") : sourceFailed(message);
}

/** Refuses what the client can change, and what the source failed to do. */
function refusalOf(error: OutboundError): RefusedFile {
  const { stage, code, message } = shownFailure(error);
  switch (stage) {
    case "forbidden":
      return refusedUrl(message, isDetailCode(code) ? code : "address");
    case "too-large":
      return refusedFile({ code: "image_too_large", message });
    default:
      return sourceFailed(message);
  }
}

/** Every reason that forbids a target, its address or its syntax, has a documented code. */
const isDetailCode = (code: string): code is DetailCode => detailCodes.some((known) => known === code);

function refusedUrl(message: string, code: DetailCode): RefusedFile {
  const details = [{ field: "source_url", code, message }];
  return refusedFile({ code: "validation_error", message: "The image cannot be imported from there.", details });
}

const sourceFailed = (message: string): RefusedFile =>
  refusedFile({ code: "bad_gateway", message, field: "source_url" });

function filenameOf(url: string): string {
  const segment = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(segment).replace(/[/\\]/g, "_");
  } catch {
    return "";
  }
}
