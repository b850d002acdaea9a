import { isUtf8 } from "node:buffer";
import { AppError, type ErrorDetail } from "@signalbox/core";
import { findJsonFlaw } from "./json-scan.ts";
import { textFlaws } from "./text-flaws.ts";

export interface JsonBody {
  readonly value: unknown;
  /** The texts in it that cannot be kept: U+0000, lone surrogates. Whoever judges the members refuses them as well. */
  readonly flaws: readonly ErrorDetail[];
}

/**
 * Turns bytes into a JSON value, refusing what readers disagree about.
 * @throws AppError `invalid_request` (not UTF-8, a byte order mark, not JSON, a name twice, numbers that do not survive,
 * nesting without bound).
 */
export function parseJsonBody(bytes: Buffer): JsonBody {
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8.");
  const text = bytes.toString("utf8");
  if (text.charCodeAt(0) === 0xfeff) throw malformed("The body starts with a byte order mark. Send it without.");
  if (text.trim() === "") throw malformed("A JSON body is needed.");
  const value = parsed(text);
  const flaw = findJsonFlaw(text);
  if (flaw) {
    throw new AppError("invalid_request", flaw.message, {
      details: [{ field: flaw.path, code: flaw.code, message: flaw.message }],
    });
  }
  return { value, flaws: textFlaws(value, text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed("The body is not JSON.", cause);
  }
}

const malformed = (message: string, cause?: unknown) => new AppError("invalid_request", message, { cause });
