import { AppError, type ErrorDetail } from "@signalbox/core";
import type { z } from "zod";
import { filename as filenameRule, NewImageFields } from "../images/image-fields.ts";

/**
 * Reads the text parts of an upload by the same rules as the members of a JSON body. `tags` may be a JSON array, a list
 * with commas, or come once per tag; every other part comes once.
 */
export function readUploadFields(parts: ReadonlyMap<string, readonly string[]>): NewImageFields {
  const repeated = [...parts].filter(([name, values]) => name !== "tags" && values.length > 1).map(([name]) => name);
  if (repeated.length > 0) {
    const details = repeated.map((field) => ({ field, code: "repeated", message: "May come once." }));
    throw new AppError("invalid_request", "A part of the form is repeated.", { details });
  }
  const given = [...parts].map(([name, values]) => [name, name === "tags" ? tagsFrom(values) : values[0]]);
  const parsed = NewImageFields.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  throw new AppError("validation_error", "A part of the form is not valid.", {
    details: parsed.error.issues.flatMap(detailsOf),
  });
}

/** The name to keep: the client's own, or one that says what the file is. @throws AppError `validation_error` */
export function readFilename(given: string, mimeType: string): string {
  if (given === "") return `image.${mimeType.slice("image/".length).replace("jpeg", "jpg")}`;
  const parsed = filenameRule.safeParse(given);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.flatMap((issue) => detailsOf({ ...issue, path: ["filename"] }));
  throw new AppError("validation_error", "The file's name is not valid.", { details });
}

function tagsFrom(values: readonly string[]): unknown {
  const [only = ""] = values;
  if (values.length > 1) return values;
  if (!only.trimStart().startsWith("[")) return only === "" ? [] : only.split(",");
  try {
    return JSON.parse(only);
  } catch {
    return only;
  }
}

function detailsOf(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((field) => ({ field, code: "unknown_member", message: "Is not a part of this form." }));
  }
  const [field = "body", ...rest] = issue.path;
  const code = issue.code === "custom" && typeof issue.params?.code === "string" ? issue.params.code : issue.code;
  return [
    { field: [String(field), ...rest.map((part) => `[${String(part)}]`)].join(""), code, message: issue.message },
  ];
}
