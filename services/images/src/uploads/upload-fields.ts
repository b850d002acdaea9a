import { AppError, type ErrorDetail } from "@signalbox/core";
import { judge } from "@signalbox/http";
import { filename as filenameRule, NewImageFields } from "../images/image-fields.ts";

/**
 * Parses the text parts of an upload by the same rules as the members of a JSON body. `tags` may be a JSON array, a
 * list with commas, or one part per tag; every other part must be unique.
 */
export function readUploadFields(parts: ReadonlyMap<string, readonly string[]>): NewImageFields {
  const repeated = [...parts].filter(([name, values]) => name !== "tags" && values.length > 1).map(([name]) => name);
  if (repeated.length > 0) {
    const details = repeated.map((field): ErrorDetail => ({ field, code: "repeated", message: "Duplicate field." }));
    throw new AppError("invalid_request", "A part of the form is repeated.", { details });
  }
  const given = [...parts].map(([name, values]) => [name, name === "tags" ? tagsFrom(values) : values[0]]);
  const judged = judge(NewImageFields, Object.fromEntries(given));
  if (judged.success) return judged.data;
  throw new AppError("validation_error", "A part of the form is not valid.", { details: judged.details });
}

/** Chooses the stored name: the client's own, or one derived from the type. @throws AppError `validation_error` */
export function readFilename(given: string, mimeType: string): string {
  if (given === "") return `image.${mimeType.slice("image/".length).replace("jpeg", "jpg")}`;
  const judged = judge(filenameRule, given);
  if (judged.success) return judged.data;
  const details = judged.details.map((detail) => ({ ...detail, field: "filename" }));
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
