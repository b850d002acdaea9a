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
  .regex(/^[A-Za-z0-9][\w.-]*$/, "A key begins with a letter or digit, followed by letters, digits and . _ -");
const variantName = z
  .string()
  .max(60)
  .regex(/^[A-Za-z0-9][\w.-]*$/, "A variant is named by letters, digits and . _ -");
/** Not `format: date`, which validators of the topic's schemas may not know. */
const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, "A day is written as 2026-12-31.")
  .refine((text) => parseRfc3339(`${text}T00:00:00Z`) !== null, "There is no such day.");
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
    "An attribute is named by letters, digits, _ $ and -; dots lead into objects.",
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
        from: days.optional().describe("The first day that counts."),
        to: days.optional().describe("The first day that no longer counts."),
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
              "The value must be a text, number, boolean, or a list of 1 to 1,000 texts and numbers.",
            )
            .describe("A text, number, boolean, or list of texts and numbers."),
        }),
      )
      .min(1)
      .max(20)
      .optional()
      .describe("Conditions over attributes that your program sends; all of them must hold."),
    percentage: z
      .number()
      .min(0)
      .max(100)
      .multipleOf(0.001)
      .optional()
      .describe("The share of accounts; raising it only adds some."),
    by: attributeName.optional().describe("The attribute by which the share is chosen, instead of the account."),
    variant: variantName.describe("The variant that the rule gives."),
  })
  .describe("The first rule whose conditions all hold decides.");

/** A flag as operators write it and services evaluate it. */
export const FlagDefinition = z.strictObject({
  key: flagKey.describe("The key of the flag."),
  state: z.enum(flagStates).describe("The stage of the flag's life."),
  type: z.enum(flagTypes).describe("The type of the values."),
  description: z.string().max(1_000).default("").describe("A text for people."),
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
        variants: z.array(variantName).min(1).max(50).describe("The variants that it must have."),
      }),
    )
    .max(10)
    .default([])
    .describe("Other flags that must evaluate to one of these variants."),
  schedule: z
    .strictObject({
      from: timeInput.nullable().default(null).describe("The beginning; null is since ever."),
      until: timeInput.nullable().default(null).describe("The end; null is for ever."),
    })
    .nullable()
    .default(null)
    .describe("The schedule of the flag; outside of it everyone gets `off`."),
  client: z.boolean().optional().describe("True when keys without scopes, those of browsers and apps, see the flag."),
  owner: z.string().min(1).max(100).describe("Contact for questions about the flag."),
  expires: day.nullable().default(null).describe("The day from which on it is listed as stale."),
  salt: z
    .string()
    .min(1)
    .max(100)
    .describe("Input of the choice of accounts: flags with the same salt choose the same ones."),
});

export type FlagDefinition = z.output<typeof FlagDefinition>;
