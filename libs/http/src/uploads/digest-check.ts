import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { badRequest } from "./bad-request.ts";

/** The verified digest algorithms; others are ignored (RFC 9530 §5). */
const algorithms = { "sha-256": "sha256", "sha-512": "sha512" } as const;
/** A whole body has no content encoding, so both are about the same bytes. */
const digestHeaders = ["content-digest", "repr-digest"] as const;
type DigestHeader = (typeof digestHeaders)[number];

/** Hashes a body piece by piece and compares it with the client's digest. */
export interface DigestCheck {
  update(chunk: Buffer): void;
  /** @throws AppError `invalid_request` when the body has another digest. */
  verify(): void;
}

/**
 * Hashes the body in passing when the client sent a digest (RFC 9530).
 * @throws AppError `invalid_request` for an unreadable digest.
 */
export function expectDigest(request: IncomingMessage): DigestCheck {
  const check = createDigestCheck(request, digestHeaders);
  if (digestHeaders.some((header) => request.headers[header] !== undefined)) request.on("data", check.update);
  return check;
}

/**
 * Creates the check of these headers, to be fed by the reader of the body. @throws AppError `invalid_request` for an
 * unreadable digest.
 */
export function createDigestCheck(request: IncomingMessage, headers: readonly DigestHeader[]): DigestCheck {
  const expected = headers.flatMap((header) => digestsIn(header, request.headers[header]));
  const hashes = expected.map(({ algorithm }) => createHash(algorithms[algorithm]));
  return {
    update: (chunk) => hashes.forEach((hash) => void hash.update(chunk)),
    verify() {
      for (const [index, { header, digest }] of expected.entries()) {
        if (hashes[index]?.digest("base64") !== digest)
          throw badRequest(header, "invalid", "The digest does not match the body.");
      }
    },
  };
}

function digestsIn(header: DigestHeader, value: string | string[] | undefined) {
  if (value === undefined) return [];
  return String(value)
    .split(",")
    .flatMap((member) => {
      const [, algorithm = "", digest = ""] = /^\s*([a-z0-9-]+)=:([A-Za-z0-9+/]+={0,2}):\s*$/.exec(member) ?? [];
      if (algorithm === "")
        throw badRequest(header, "invalid", "Must have the form algorithm=:digest in base64:, as in RFC 9530.");
      return algorithm === "sha-256" || algorithm === "sha-512" ? ([{ header, algorithm, digest }] as const) : [];
    });
}
