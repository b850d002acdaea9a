import { AppError, type DetailCode, detailCodes, type ErrorDetail } from "@signalbox/core";
import { z } from "zod";
import { sentenceOf } from "./sentences.ts";
import { flawsMax } from "./text-flaws.ts";

/** Formats the path of a failing member as clients write it: `settings.tags[2]`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

type Issue = z.core.$ZodIssue;
export type Judgement<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly details: readonly ErrorDetail[] };

const none: ReadonlySet<string> = new Set();

/**
 * Judges the input of a client. Failing members are named once, with one sentence: their first fault; a hundred at
 * most. `readOnly` are members that clients must not send.
 */
export function judge<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  readOnly: ReadonlySet<string> = none,
): Judgement<Output> {
  // `safeParse` writes a sentence for each of half a million faults: a second for one body.
  // A union writes the sentences of its forms by itself, from the context.
  const context = { async: false, error: sentenceOf };
  const result = schema._zod.run({ value, issues: [] }, context);
  if (result instanceof Promise) throw new Error("a schema of client input must not be asynchronous");
  if (result.issues.length === 0) return { success: true, data: result.value as Output };
  const issues = result.issues
    .slice(0, flawsMax)
    .map((issue) => z.core.util.finalizeIssue(issue, context, z.core.config()));
  const details = onePerField(issues.flatMap((issue) => detailsOf(issue, value, readOnly)));
  return { success: false, details: details.slice(0, flawsMax) };
}

/** Keeps the first fault of each field. */
export function onePerField(details: readonly ErrorDetail[]): ErrorDetail[] {
  return [...new Map(details.toReversed().map((detail) => [detail.field, detail])).values()].reverse();
}

/**
 * Creates the refusal of a body (CONTRACT §2): a required member missing from a POST is 400 and named first; everything
 * else is 422.
 */
export function bodyRefusal(method: string, details: readonly ErrorDetail[]): AppError {
  const absent = details.filter(({ code }) => code === "required");
  if (method === "POST" && absent.length > 0) {
    const others = details.filter(({ code }) => code !== "required");
    return new AppError("invalid_request", "A required member is absent.", { details: [...absent, ...others] });
  }
  return new AppError("validation_error", "A member of the body is not valid.", { details });
}

function detailsOf(issue: Issue, value: unknown, readOnly: ReadonlySet<string>): ErrorDetail[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, flawsMax).map((key) => unknownMember(fieldPath([...issue.path, key]), readOnly));
  }
  const faults = issue.code === "invalid_union" && !isAbsent(value, issue.path) ? faultsOf(issue) : [];
  const unknown = faults.find(({ code }) => code === "unrecognized_keys");
  if (unknown) return detailsOf(unknown, value, readOnly).map((detail) => ({ ...detail, message: issue.message }));
  if (faults.length > 0) return faults.flatMap((fault) => detailsOf(fault, value, readOnly));
  if (isAbsent(value, issue.path)) {
    return [{ field: fieldPath(issue.path), code: "required", message: "Is required." }];
  }
  return [{ field: fieldPath(issue.path), code: codeOf(issue), message: issue.message }];
}

/**
 * Returns the faults of the one form of a union that the value is of: its kind fits, and only members are wrong. None
 * where no form, or more than one, is meant.
 */
function faultsOf({ errors, path }: z.core.$ZodIssueInvalidUnion): readonly Issue[] {
  const meant = errors.filter((faults) =>
    faults.every((fault) => fault.path.length > 0 || fault.code !== "invalid_type"),
  );
  if (meant.length !== 1) return [];
  return (meant[0] ?? []).map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
}

function unknownMember(field: string, readOnly: ReadonlySet<string>): ErrorDetail {
  return readOnly.has(field)
    ? { field, code: "read_only", message: "Is read-only and must not be sent." }
    : { field, code: "unknown_member", message: "Is not a member of this resource." };
}

/** Returns the code of an issue: the one that our own check names, or else the one of its kind. */
function codeOf(issue: Issue): DetailCode {
  if (issue.code === "custom" && isDetailCode(issue.params?.code)) return issue.params.code;
  switch (issue.code) {
    case "invalid_type":
      return "invalid_type";
    case "too_big":
      return "too_big";
    case "too_small":
      return "too_small";
    case "invalid_format":
      return "invalid_format";
    case "invalid_value":
      return "invalid_value";
    default:
      return "invalid";
  }
}

const isDetailCode = (code: unknown): code is DetailCode => detailCodes.includes(code as DetailCode);

/** Returns true for a missing member. Null is not missing, and the body itself is never missing here. */
function isAbsent(value: unknown, path: readonly PropertyKey[]): boolean {
  if (path.length === 0) return false;
  let parent = value;
  for (const part of path.slice(0, -1)) {
    if (typeof parent !== "object" || parent === null) return false;
    parent = (parent as Record<PropertyKey, unknown>)[part];
  }
  const last = path.at(-1) as PropertyKey;
  return typeof parent === "object" && parent !== null && !Array.isArray(parent) && !Object.hasOwn(parent, last);
}
