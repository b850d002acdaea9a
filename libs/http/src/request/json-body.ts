import { isUtf8 } from "node:buffer";
import { AppError, type ErrorDetail, RawJson } from "@signalbox/core";
import { type RawPlace, type RawSpan, scanJson } from "./json-scan.ts";
import { textFlaws } from "./text-flaws.ts";

export interface JsonBody {
  readonly value: unknown;
  /** Texts that cannot be stored: U+0000, lone surrogates. The judge of the members refuses them as well. */
  readonly flaws: readonly ErrorDetail[];
}

/**
 * Parses bytes as JSON, and refuses texts that parsers disagree about.
 * @throws AppError `invalid_request` (not UTF-8, a byte order mark, not JSON, a duplicate name, numbers beyond a
 * double, nesting without bound).
 */
export function parseJsonBody(bytes: Buffer, raw: RawPlace | null = null): JsonBody {
  const slices = jsonBodySlices(bytes, raw);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** Does the same in slices of similar length, so that other work gets its turn between them. */
export function* jsonBodySlices(bytes: Buffer, raw: RawPlace | null = null): Generator<undefined, JsonBody> {
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8.");
  const text = bytes.toString("utf8");
  if (text.charCodeAt(0) === 0xfeff) throw malformed("The body starts with a byte order mark. Remove it.");
  if (text.trim() === "") throw malformed("A JSON body is required.");
  const whole = parsed(text);
  yield;
  const { flaw, spans } = scanJson(text, raw);
  if (flaw) {
    throw new AppError("invalid_request", flaw.message, {
      details: [{ field: flaw.path, code: flaw.code, message: flaw.message }],
    });
  }
  yield;
  const value = withRaw(whole, text, raw, spans);
  return { value, flaws: textFlaws(value, text) };
}

/** Puts the raw JSON in place of the values that were parsed from it. */
function withRaw(value: unknown, text: string, place: RawPlace | null, spans: readonly RawSpan[]): unknown {
  const rawOf = ({ from, to, isExact }: RawSpan, part: unknown) =>
    new RawJson(text.slice(from, to).trim(), part, isExact);
  for (const span of spans) {
    if (place === null || "whole" in place) return rawOf(span, value);
    const holder = (Array.isArray(value) ? value[span.index] : value) as Record<string, unknown>;
    holder[place.member] = rawOf(span, holder[place.member]);
  }
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
