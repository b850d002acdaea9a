import { parseRfc3339, shortened, textFault, textFaults } from "@signalbox/core";
import { z } from "zod";

/** RFC 3339 in UTC with milliseconds (CONTRACT §2), as `Date.prototype.toISOString` writes it. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .describe("RFC 3339, UTC, with milliseconds.")
  .meta({ example: "2026-01-01T00:00:00.000Z" });

/** The input of a time: RFC 3339 in any zone, parsed to UTC with milliseconds. */
export const timeInput = z
  .string()
  .meta({ format: "date-time", description: "RFC 3339, in any zone; kept to the millisecond." })
  .check(({ value, issues }) => {
    if (parseRfc3339(value) === null) issues.push({ code: "invalid_format", format: "datetime", input: value });
  })
  // It also runs for a text that the check has refused.
  .overwrite((text) => parseRfc3339(text)?.toISOString() ?? text)
  .pipe(timestamp);

/** The input of a time as a `Date`. */
export const dateInput = timeInput.transform((text) => new Date(text));

/** An identifier. Clients treat it as opaque. */
export const identifier = (what: string) => z.string().min(1).describe(`${what}. Opaque.`);

/** The live values of what rotates, in every view of its owner, each with what `shown` adds. */
export const liveValues = <Shown extends z.ZodRawShape = Record<never, never>>(noun: string, shown?: Shown) =>
  z
    .array(
      z.object({
        id: z.string().describe("The id of the value, needed to end it."),
        created_at: timestamp,
        ends_at: timestamp.nullable().describe("The time when it stops being accepted; null for the newest."),
        ...(shown as Shown),
      }),
    )
    .describe(`The valid ${noun}, newest first, each with its end; null for none.`);

/** The input of a rotation. `effect` says what goes on for that time. */
export const overlapSeconds = (effect: string, max = 7 * 24 * 3600) =>
  z.int().min(0).max(max).describe(`Seconds for which ${effect}. 0 ends every older one at once.`);

/** Any JSON value, kept as it came. */
export const jsonValue = z.unknown().describe("Any JSON value.");

/** Added to a resource by every event about it: the names of the fields that this change touched. */
export const changed = z
  .array(z.string())
  .describe("Names of the fields that changed; empty on creation and deletion.");

/** Optional because a topic keeps events that are older than the member. */
export const createdBy = z
  .string()
  .nullable()
  .optional()
  .describe("The API key that created it, `person` or `first-key`; null if unknown.");

/** Examples of schemas for the documentation of inputs and answers. */
export const examples = z.registry<{ readonly example: z.$input }>();

/** Returns the example of a resource. @throws Error for one without */
export function exampleOf<Resource extends z.ZodType>(resource: Resource): z.output<Resource> {
  const found = examples.get(resource);
  if (!found) throw new Error("the resource has no example");
  return found.example as z.output<Resource>;
}

/** Refuses what no text that people read may have; `lines` allows line breaks. */
export const readable =
  (options: { readonly lines?: boolean } = {}) =>
  ({ value, issues }: z.core.ParsePayload<string>): void => {
    const fault = textFault(value, options);
    if (fault === null) return;
    issues.push({
      code: "custom",
      input: value,
      message: `Must ${textFaults[fault]}.`,
      params: { code: "invalid_text" },
    });
  };

const lengthMax = 100;
/** Something to see. The blank pattern of Braille is a symbol to Unicode, and nothing to the eye. */
const visible = /(?!\u2800)[\p{L}\p{N}\p{P}\p{S}]/u;

/** Describes the fault of a name, trimmed and in NFC; null when there is none. Characters are counted as people do. */
function problemOf(name: string): string | null {
  const length = [...name].length;
  if (length < 1 || length > lengthMax) return `The name must have 1–${lengthMax} characters.`;
  const fault = textFault(name, { isName: true });
  if (fault !== null) return `The name must ${textFaults[fault]}.`;
  return visible.test(name) ? null : "The name must have at least one visible character.";
}

/** Reads a name that a program brings: one that is too long is shortened. Returns undefined for one that is no name. */
export const nameFrom = (value: unknown): string | undefined =>
  typeof value === "string"
    ? displayName.safeParse(shortened(value.trim().normalize("NFC"), lengthMax)).data
    : undefined;

/**
 * Builds the schema of a display name of an account, a key, a client or a source. It is stored trimmed and in one Unicode
 * form, so that two ways of typing the same name are the same value. `present` is a name from before these rules, which
 * may be sent back.
 */
export const displayNameOr = (present: string | undefined) =>
  z
    .string()
    .trim()
    .normalize("NFC")
    .check(({ value, issues }) => {
      const message = value === present ? null : problemOf(value);
      if (message !== null) issues.push({ code: "custom", input: value, message, params: { code: "invalid" } });
    })
    .meta({
      description:
        "1–100 characters after trimming, at least one of them visible; invisible characters only inside emoji and words, and at most 8 combining marks in a row.",
      minLength: 1,
      maxLength: lengthMax,
    });

export const displayName = displayNameOr(undefined);
