import { z } from "zod";
import { roles } from "../access/scopes.ts";
import { jsonValue, timestamp } from "./fields.ts";

const flagStates = ["enabled", "disabled", "preview", "deprecated"] as const;
const flagTypes = ["boolean", "string", "integer", "float", "object"] as const;

const flagKey = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/, "A key has lower-case words, joined by . _ or -.");
const variantName = z
  .string()
  .max(60)
  .regex(/^[A-Za-z0-9][\w.-]*$/, "A variant is named by letters, digits and . _ -");
/** Not `format: date`, which validators of the topic's schemas may not know. */
const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, "A day is written as 2026-12-31.")
  .refine((text) => !Number.isNaN(Date.parse(text)), "There is no such day.");
const days = z.int().min(0).max(36_500);

/** A rule of a flag: all that it names must hold of the account. */
const FlagRule = z
  .strictObject({
    name: z.string().min(1).max(100).optional(),
    accounts: z.array(z.string().min(1).max(100)).min(1).max(1_000).optional().describe("Ids of accounts."),
    roles: z.array(z.enum(roles)).min(1).optional(),
    locales: z.array(z.string().min(2).max(20)).min(1).max(100).optional(),
    age: z
      .strictObject({ from: days.optional(), to: days.optional() })
      .optional()
      .describe("Days since the account was created: at least `from`, less than `to`."),
    percentage: z
      .number()
      .min(0)
      .max(100)
      .multipleOf(0.001)
      .optional()
      .describe("The share of accounts; raising it only adds some."),
    variant: variantName,
  })
  .describe("The first rule whose conditions all hold decides.");

/** A flag as operators write it and services evaluate it. */
export const FlagDefinition = z.strictObject({
  key: flagKey,
  state: z.enum(flagStates),
  type: z.enum(flagTypes),
  description: z.string().max(1_000).default(""),
  variants: z
    .array(z.strictObject({ name: variantName, value: jsonValue }))
    .min(1)
    .max(50),
  default: variantName.describe("Variant for accounts without a matching rule."),
  off: variantName.describe("Variant for all accounts while the flag is disabled or outside its time."),
  rules: z.array(FlagRule).max(50).default([]),
  prerequisites: z
    .array(z.strictObject({ flag: flagKey, variants: z.array(variantName).min(1).max(50) }))
    .max(10)
    .default([])
    .describe("Other flags that must evaluate to one of these variants."),
  schedule: z
    .strictObject({ from: timestamp.nullable().default(null), until: timestamp.nullable().default(null) })
    .nullable()
    .default(null)
    .describe("The schedule of the flag; outside of it everyone gets `off`."),
  owner: z.string().min(1).max(100).describe("Contact for questions about the flag."),
  expires: day.nullable().default(null).describe("The day from which on it is listed as stale."),
  salt: z
    .string()
    .min(1)
    .max(100)
    .describe("Input of the choice of accounts: flags with the same salt choose the same ones."),
});

export type FlagDefinition = z.output<typeof FlagDefinition>;
