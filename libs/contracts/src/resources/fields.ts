import { z } from "zod";

/** RFC 3339 in UTC with milliseconds (CONTRACT §2), as `Date.prototype.toISOString` writes it. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .describe("RFC 3339, UTC, with milliseconds.")
  .meta({ example: "2026-01-01T00:00:00.000Z" });

/** An identifier. Clients treat it as opaque. */
export const identifier = (what: string) => z.string().min(1).describe(`${what}. Opaque.`);

/** The live values of what rotates, in every view of its owner, each with what `shown` adds. */
export const liveValues = <Shown extends z.ZodRawShape = Record<never, never>>(noun: string, shown?: Shown) =>
  z
    .array(
      z.object({
        id: z.string().describe("The id of the value, to end it by."),
        created_at: timestamp,
        ends_at: timestamp.nullable().describe("The time when it stops to be accepted; null for the newest."),
        ...(shown as Shown),
      }),
    )
    .describe(`The live ${noun}, newest first, each with its end; null for none.`);

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
