import { parseRfc3339 } from "@signalbox/core";
import { z } from "zod";
import { roles } from "../access/scopes.ts";
import { jsonValue, timeInput } from "./fields.ts";

const flagStates = ["enabled", "disabled", "preview", "deprecated"] as const;
const flagTypes = ["boolean", "string", "integer", "float", "object"] as const;

/** Keys as other flag services have them: `newCheckout`, `My-Flag`, `checkout.new`. */
const flagKey = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9][\w.-]*$/, "A key must begin with a letter or digit, followed by letters, digits, . _ or -");
const variantName = z
  .string()
  .max(60)
  .regex(/^[A-Za-z0-9][\w.-]*$/, "A variant name may only have letters, digits, . _ and -");
/** Not `format: date`, which validators of the topic's schemas may not know. */
const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, "Must be a date such as 2026-12-31.")
  .refine((text) => parseRfc3339(`${text}T00:00:00Z`) !== null, "This date does not exist.");
const days = z.int().min(0).max(36_500);

/** Operators over the attributes of a context, as flagd has them. */
const attributeOperators = [
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "not_in",
  "contains",
  "starts_with",
  "ends_with",
  "sem_ver",
] as const;

const attributeName = z
  .string()
  .max(100)
  .regex(
    /^[A-Za-z_$][\w$-]*(?:\.[\w$-]+)*$/,
    "An attribute name may only have letters, digits, _ $ and -; dots address members of objects.",
  );
const isAttributeText = (value: unknown): boolean => typeof value === "string" && value.length <= 1_000;

/** Compared values: a text, a number, a boolean, or a list of texts and numbers. */
function isAttributeValue(value: unknown): boolean {
  if (!Array.isArray(value)) return isAttributeText(value) || Number.isFinite(value) || typeof value === "boolean";
  if (value.length === 0 || value.length > 1_000) return false;
  return value.every((one) => isAttributeText(one) || Number.isFinite(one));
}

/** A rule of a flag: all that it names must hold of the account. */
const FlagRule = z
  .strictObject({
    name: z.string().min(1).max(100).optional().describe("The name of the rule."),
    accounts: z.array(z.string().min(1).max(100)).min(1).max(1_000).optional().describe("Ids of accounts."),
    roles: z.array(z.enum(roles)).min(1).optional().describe("Only callers with one of these roles."),
    locales: z
      .array(z.string().min(2).max(20))
      .min(1)
      .max(100)
      .optional()
      .describe("Only callers with one of these locales."),
    age: z
      .strictObject({
        from: days.optional().describe("The first day of the period."),
        to: days.optional().describe("The first day after the period."),
      })
      .optional()
      .describe("Days since the account was created: at least `from`, less than `to`."),
    attributes: z
      .array(
        z.strictObject({
          name: attributeName.describe("The name in the context of the evaluation, such as `plan` or `app.version`."),
          operator: z.enum(attributeOperators).describe("How the attribute is compared with the value."),
          value: jsonValue
            .refine(
              isAttributeValue,
              "The value must be a string, number, boolean, or a list of 1 to 1,000 strings and numbers.",
            )
            .describe("A string, number, boolean, or list of strings and numbers."),
        }),
      )
      .min(1)
      .max(20)
      .optional()
      .describe("Conditions on attributes that your program sends; all of them must match."),
    percentage: z
      .number()
      .min(0)
      .max(100)
      .multipleOf(0.001)
      .optional()
      .describe("The share of accounts; raising it only adds accounts."),
    by: attributeName.optional().describe("The attribute to bucket by, instead of the account."),
    variant: variantName.describe("The variant that the rule returns."),
  })
  .describe("A rule; the first one whose conditions all match decides.");

/** A flag as operators write it and services evaluate it. */
export const FlagDefinition = z.strictObject({
  key: flagKey.describe("The key of the flag."),
  state: z.enum(flagStates).describe("The lifecycle stage of the flag."),
  type: z.enum(flagTypes).describe("The type of the values."),
  description: z.string().max(1_000).default("").describe("A description for people."),
  variants: z
    .array(z.strictObject({ name: variantName.describe("The name of the variant."), value: jsonValue }))
    .min(1)
    .max(50)
    .describe("The values that the flag can have, by name."),
  default: variantName.describe("Variant for accounts without a matching rule."),
  off: variantName.describe("Variant for all accounts while the flag is disabled or outside its time."),
  rules: z.array(FlagRule).max(50).default([]).describe("The rules, of which the first that matches decides."),
  prerequisites: z
    .array(
      z.strictObject({
        flag: flagKey.describe("The key of the other flag."),
        variants: z.array(variantName).min(1).max(50).describe("The variants that it must evaluate to."),
      }),
    )
    .max(10)
    .default([])
    .describe("Other flags that must evaluate to one of these variants."),
  schedule: z
    .strictObject({
      from: timeInput.nullable().default(null).describe("The start; null for no start."),
      until: timeInput.nullable().default(null).describe("The end; null for no end."),
    })
    .nullable()
    .default(null)
    .describe("The schedule of the flag; outside of it everyone gets `off`."),
  client: z
    .boolean()
    .optional()
    .describe("True when client keys, which have no scopes and are meant for browsers and apps, can read the flag."),
  owner: z.string().min(1).max(100).describe("Contact for questions about the flag."),
  expires: day.nullable().default(null).describe("The day from which it is listed as stale."),
  salt: z
    .string()
    .min(1)
    .max(100)
    .describe("The salt of the rollout: flags with the same salt choose the same accounts."),
});

export type FlagDefinition = z.output<typeof FlagDefinition>;
