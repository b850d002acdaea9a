import { AppError, type ErrorDetail } from "@signalbox/core";
import { judge } from "@signalbox/http";
import { NewImageFields } from "../state/image-fields.ts";

/**
 * Parses the text parts of an upload by the same rules as the members of a JSON body. `tags` may be a JSON array, a
 * list with commas, or one part per tag; every other part must be unique.
 */
export function readUploadFields(
  parts: ReadonlyMap<string, readonly string[]>,
  invalid = "A part of the form is not valid.",
): NewImageFields {
  const repeated = [...parts].filter(([name, values]) => name !== "tags" && values.length > 1).map(([name]) => name);
  if (repeated.length > 0) {
    const details = repeated.map((field): ErrorDetail => ({ field, code: "repeated", message: "Duplicate field." }));
    throw new AppError("invalid_request", "A part of the form is repeated.", { details });
  }
  const given = [...parts].map(([name, values]) => [name, name === "tags" ? tagsFrom(values) : values[0]]);
  const judged = judge(NewImageFields, Object.fromEntries(given));
  if (judged.success) return judged.data;
  throw new AppError("validation_error", invalid, { details: judged.details });
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

/** Builds the refusal of a file in another part than `file`. */
export function wrongPart(field: string): AppError {
  const isText = Object.hasOwn(NewImageFields.shape, field);
  const message = isText
    ? `The part \`${field}\` is text: send it without a file name, and the image in the part \`file\`.`
    : `The form has no part \`${field}\`: send the image in the part \`file\`.`;
  const details: ErrorDetail[] = [{ field, code: isText ? "invalid" : "unknown_member", message }];
  return new AppError("validation_error", message, { details });
}
