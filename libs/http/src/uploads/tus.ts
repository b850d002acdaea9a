import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { badRequest } from "./bad-request.ts";

/** The version of tus (https://tus.io/protocols/resumable-upload). */
export const tusVersion = "1.0.0";

/** Media type of a piece. */
export const tusPieceType = "application/offset+octet-stream";

/** Uploads by tus, as a route offers them. */
export interface TusOffer {
  /** Returns the largest size of an upload in bytes; null where tus is not offered. */
  readonly maxBytes: () => number | null;
}

/** Headers of requests and answers that pages of other origins need. */
export const tusRequestHeaders = ["Tus-Resumable", "Upload-Checksum", "Upload-Length", "Upload-Metadata"];
export const tusAnswerHeaders = [
  "Content-Location",
  "Tus-Checksum-Algorithm",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Resumable",
  "Tus-Version",
  "Upload-Expires",
  "Upload-Metadata",
];

const checksums = new Set(["sha1", "sha256"]);

/** Builds the headers that answer OPTIONS; none where tus is not offered. */
export function tusOptions({ maxBytes }: TusOffer): Record<string, string> {
  const max = maxBytes();
  if (max === null) return {};
  return {
    "Tus-Version": tusVersion,
    "Tus-Extension": "creation,expiration,checksum,termination",
    "Tus-Max-Size": String(max),
    "Tus-Checksum-Algorithm": [...checksums].join(","),
  };
}

export const speaksTus = (headers: IncomingHttpHeaders): boolean => headers["tus-resumable"] !== undefined;

/** Reads `Upload-Length`. @throws AppError `invalid_request` for anything but a number of bytes. */
export function uploadLengthIn(headers: IncomingHttpHeaders): number {
  const given = String(headers["upload-length"] ?? "");
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw badRequest("upload-length", "invalid", "Must be the number of bytes of the file.");
}

/**
 * Reads `Upload-Metadata`: keys with values in base64, each once.
 * @throws AppError `invalid_request` for another form.
 */
export function uploadMetadataIn(header: string): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of header.trim() === "" ? [] : header.split(",")) {
    const [, key = "", value = ""] = /^\s*([\x21-\x2b\x2d-\x7e]+)(?: +([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair) ?? [];
    if (key === "" || metadata.has(key)) {
      throw badRequest("upload-metadata", "invalid", "Must be a list of unique keys, each with its value in base64.");
    }
    const bytes = Buffer.from(value, "base64");
    if (!isUtf8(bytes)) throw badRequest("upload-metadata", "invalid", `The value of ${key} must be text in UTF-8.`);
    metadata.set(key, bytes.toString());
  }
  return metadata;
}

/** Hashes a piece while it arrives. */
export interface Checksum {
  update(chunk: Buffer): void;
  matches(): boolean;
}

/**
 * Reads `Upload-Checksum`; null without one.
 * @throws AppError `invalid_request` for another form, or an algorithm that is not offered.
 */
export function uploadChecksumIn(headers: IncomingHttpHeaders): Checksum | null {
  const given = headers["upload-checksum"];
  if (given === undefined) return null;
  const [, algorithm = "", sum] = /^([a-z0-9]+) +([A-Za-z0-9+/]+={0,2})$/.exec(String(given)) ?? [];
  if (!checksums.has(algorithm)) {
    throw badRequest(
      "upload-checksum",
      "invalid",
      `Must be one of ${[...checksums].join(", ")}, with the checksum in base64.`,
    );
  }
  const hash = createHash(algorithm);
  return { update: (chunk) => void hash.update(chunk), matches: () => hash.digest("base64") === sum };
}
