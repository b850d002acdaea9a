import { jsonIn, numberIn, wordsIn } from "../../parts/read-text.ts";
import type { FlagDefinition } from "./flag.ts";

export const flagStates = ["enabled", "disabled", "preview", "deprecated"] as const;
export const flagTypes = ["boolean", "string", "integer", "float", "object"] as const;

export const blankVariant = { name: "", value: "" };
export const blankPrerequisite = { flag: "", variants: "" };
export const blankRule = {
  name: "",
  accounts: "",
  roles: "",
  locales: "",
  attributes: "",
  percentage: "",
  by: "",
  variant: "",
  ageFrom: "",
  ageTo: "",
};

export type RuleInput = Readonly<typeof blankRule>;

/** A flag as it is typed: every part is a text. */
export type FlagInput = Omit<ReturnType<typeof inputOf>, "variants" | "rules" | "prerequisites"> & {
  readonly variants: ReadonlyArray<typeof blankVariant>;
  readonly rules: readonly RuleInput[];
  readonly prerequisites: ReadonlyArray<typeof blankPrerequisite>;
};

/** Writes a definition into the fields of the form. @throws TypeError for JSON that is no flag */
export function inputOf(flag: FlagDefinition) {
  const { key, state, type, owner, description, expires, variants, rules = [], schedule, prerequisites = [] } = flag;
  return {
    key,
    state,
    type,
    owner,
    description: description ?? "",
    expires: expires ?? "",
    default: flag.default,
    off: flag.off,
    variants: variants.map(({ name, value }) => ({ name, value: valueText(value) })),
    rules: rules.map(ruleInputOf),
    from: timeText(schedule?.from),
    until: timeText(schedule?.until),
    prerequisites: prerequisites.map((each) => ({ flag: each.flag, variants: each.variants.join(" ") })),
    salt: flag.salt ?? "",
    client: flag.client ?? false,
  };
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function ruleInputOf(rule: FlagDefinition["rules"][number]): RuleInput {
  const text = (value: unknown) => (value === undefined || value === null ? "" : [value].flat().join(" "));
  const { from, to } = (rule.age ?? {}) as { readonly from?: unknown; readonly to?: unknown };
  return {
    name: text(rule.name),
    accounts: text(rule.accounts),
    roles: text(rule.roles),
    locales: text(rule.locales),
    attributes: rule.attributes ? JSON.stringify(rule.attributes) : "",
    percentage: text(rule.percentage),
    by: text(rule.by),
    variant: rule.variant,
    ageFrom: text(from),
    ageTo: text(to),
  };
}

/** Writes a time into a field of the browser, in UTC. */
const timeText = (at: unknown): string => (typeof at === "string" ? at.replace(/(:00)?(\.000)?Z$/, "") : "");

/**
 * Reads the definition that was typed.
 * @throws Error that names the field and says what was expected
 */
export function readFlag(input: FlagInput): FlagDefinition {
  const { key, state, type, owner, description, expires, variants, rules, from, until, prerequisites, salt, client } =
    input;
  return {
    key: key.trim(),
    state,
    type,
    owner: owner.trim(),
    description,
    expires: expires || null,
    default: input.default,
    off: input.off,
    variants: variants.map((variant) => ({ name: variant.name.trim(), value: readValue(variant, type) })),
    rules: rules.map(readRule),
    schedule: from || until ? { from: readTime(from), until: readTime(until) } : null,
    prerequisites: prerequisites.map((each) => ({ flag: each.flag.trim(), variants: wordsIn(each.variants) })),
    salt,
    ...(client && { client }),
  };
}

function readValue({ name, value }: typeof blankVariant, type: string): unknown {
  const text = value.trim();
  if (type === "string") return value;
  if (type === "boolean") {
    if (text === "true" || text === "false") return text === "true";
    throw new Error(`Variant ${name}: choose true or false.`);
  }
  return type === "object" ? jsonIn(text, `Variant ${name}`) : numberIn(text, `Variant ${name}`);
}

function readRule(rule: RuleInput, at: number): FlagDefinition["rules"][number] {
  const { name, variant, attributes, percentage, by, ageFrom, ageTo } = rule;
  const of = `Rule ${at + 1}`;
  const list = (member: "accounts" | "roles" | "locales") =>
    rule[member].trim() === "" ? {} : { [member]: wordsIn(rule[member]) };
  const days = (member: "from" | "to", text: string) =>
    text.trim() === "" ? {} : { [member]: numberIn(text.trim(), `${of}, age`) };
  const age = { ...days("from", ageFrom), ...days("to", ageTo) };
  return {
    ...(name.trim() !== "" && { name: name.trim() }),
    ...list("accounts"),
    ...list("roles"),
    ...list("locales"),
    ...(attributes.trim() !== "" && { attributes: jsonIn(attributes, `${of}, attributes`) }),
    ...(percentage.trim() !== "" && { percentage: numberIn(percentage.trim(), `${of}, share`) }),
    ...(by.trim() !== "" && { by: by.trim() }),
    variant,
    ...(Object.keys(age).length > 0 && { age }),
  };
}

const readTime = (text: string): string | null => (text === "" ? null : new Date(`${text}Z`).toISOString());
