import type { FlagDefinition } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { attributeOf, compileAttribute } from "./attribute-condition.ts";
import type { FlagContext, FlagEvaluation, FlagReason } from "./flag-context.ts";
import { bucketOf, isWithin } from "./rollout-bucketing.ts";

type Rule = FlagDefinition["rules"][number];

/** Evaluates another flag, for a prerequisite. */
export type EvaluateOther = (key: string, context: FlagContext, nowMs: number) => FlagEvaluation;

/** A compiled flag: its answers are built once, so that an evaluation allocates nothing. */
export interface CompiledFlag {
  readonly definition: FlagDefinition;
  readonly evaluate: (context: FlagContext, nowMs: number, other: EvaluateOther) => FlagEvaluation;
}

/** One condition of a rule. */
type Condition = (context: FlagContext, nowMs: number) => boolean;

interface CompiledRule {
  readonly conditions: readonly Condition[];
  readonly percentage: number | null;
  /** The attribute that chooses the share; null for the account. */
  readonly by: string | null;
  readonly answer: FlagEvaluation;
}

const dayMs = hours(24);

/** Makes a number that `JSON.stringify` writes as it is (proposal "JSON.parse source text access", in Node 22). */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

export function compileFlag(definition: FlagDefinition): CompiledFlag {
  const { key, type, state, variants, rules, prerequisites, schedule, salt } = definition;
  const values = new Map(variants.map(({ name, value }) => [name, value]));
  const answer = (variant: string, reason: FlagReason): FlagEvaluation => {
    const value = values.get(variant);
    const isWhole = type === "float" && /^-?\d+$/.test(String(value));
    return Object.freeze({ key, value, json: isWhole ? rawJSON(`${value}.0`) : value, variant, reason });
  };

  const compiled = rules.map((rule) => compileRule(rule, answer));
  const disabled = answer(definition.off, "DISABLED");
  const missing = answer(definition.off, "PREREQUISITE_FAILED");
  // A preview is only for accounts that a rule matches.
  const rest =
    state === "preview"
      ? answer(definition.off, "DEFAULT")
      : answer(definition.default, rules.length > 0 ? "DEFAULT" : "STATIC");
  const fromMs = schedule?.from ? Date.parse(schedule.from) : Number.NEGATIVE_INFINITY;
  const untilMs = schedule?.until ? Date.parse(schedule.until) : Number.POSITIVE_INFINITY;

  return {
    definition,
    evaluate(context, nowMs, other) {
      if (state === "disabled" || nowMs < fromMs || nowMs >= untilMs) return disabled;
      for (const { flag, variants: wanted } of prerequisites) {
        const { variant } = other(flag, context, nowMs);
        if (variant === null || !wanted.includes(variant)) return missing;
      }
      let bucket = -1;
      for (const { conditions, percentage, by, answer: matched } of compiled) {
        if (!holds(conditions, context, nowMs)) continue;
        if (percentage === null) return matched;
        if (by !== null) {
          const key = keyOf(attributeOf(context.attributes, by));
          if (key !== null && isWithin(bucketOf(salt, key), percentage)) return matched;
          continue;
        }
        if (bucket < 0) bucket = bucketOf(salt, context.accountId);
        if (isWithin(bucket, percentage)) return matched;
      }
      return rest;
    },
  };
}

function holds(conditions: readonly Condition[], context: FlagContext, nowMs: number): boolean {
  for (const condition of conditions) if (!condition(context, nowMs)) return false;
  return true;
}

/** Returns the text by which an attribute chooses; null for an absent one, and for an object. */
const keyOf = (attribute: unknown): string | null =>
  typeof attribute === "string" || typeof attribute === "number" ? String(attribute) : null;

function compileRule(rule: Rule, answer: (variant: string, reason: FlagReason) => FlagEvaluation): CompiledRule {
  const { percentage = null, by = null, variant } = rule;
  return {
    conditions: conditionsOf(rule),
    percentage,
    by,
    answer: answer(variant, percentage === null ? "TARGETING_MATCH" : "SPLIT"),
  };
}

function conditionsOf({ accounts, roles, locales, age, attributes = [] }: Rule): Condition[] {
  const conditions: Condition[] = [];
  if (roles) conditions.push(({ roles: has }) => has.some((role) => (roles as readonly string[]).includes(role)));
  if (accounts) {
    const ids = new Set(accounts);
    conditions.push(({ accountId }) => ids.has(accountId));
  }
  if (locales) {
    const known = new Set(locales.map((locale) => locale.toLowerCase()));
    conditions.push(({ locale }) => locale !== null && known.has(locale.toLowerCase()));
  }
  if (age) {
    const { from = 0, to = Number.POSITIVE_INFINITY } = age;
    conditions.push(({ createdAtMs }, nowMs) => {
      const days = createdAtMs === null ? Number.NaN : (nowMs - createdAtMs) / dayMs;
      return days >= from && days < to;
    });
  }
  for (const attribute of attributes) {
    const isMet = compileAttribute(attribute);
    conditions.push((context) => isMet(context.attributes));
  }
  return conditions;
}
