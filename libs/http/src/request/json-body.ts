import { isUtf8 } from "node:buffer";
import { AppError } from "@signalbox/core";
import { findJsonFlaw } from "./json-scan.ts";
import { textFlaws } from "./text-flaws.ts";

/**
 * Turns bytes into a JSON value, refusing what readers disagree about.
 * @throws AppError `invalid_request` (not UTF-8, a byte order mark, not JSON, a name twice, numbers that do not survive,
 * nesting without bound) or `validation_error` (U+0000, lone surrogates).
 */
export function parseJsonBody(bytes: Buffer): unknown {
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
  const flaws = textFlaws(text, value);
  if (flaws.length > 0)
    throw new AppError("validation_error", "A text holds characters that cannot be kept.", { details: flaws });
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed("The body is not JSON.", cause);
  }
}

const malformed = (message: string, cause?: unknown) => new AppError("invalid_request", message, { cause });
