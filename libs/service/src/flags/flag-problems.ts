import type { FlagDefinition } from "@signalbox/contracts";
import { masked, maskText } from "@signalbox/core";
import { attributeProblem } from "./attribute-condition.ts";

/** A fault of a flag. `field` is its path in the definition. */
interface FlagProblem {
  readonly field: string;
  readonly message: string;
}

const objectDepthMax = 8;
const definitionBytesMax = 64 * 1024;

/** Lists every fault of a flag among the others, besides the form of its members. */
export function flagProblems(flag: FlagDefinition, others: readonly FlagDefinition[]): FlagProblem[] {
  const byKey = new Map(others.filter(({ key }) => key !== flag.key).map((each) => [each.key, each]));
  return [
    ...textProblems(flag),
    ...variantProblems(flag),
    ...ruleProblems(flag),
    ...scheduleProblems(flag),
    ...prerequisiteProblems(flag, byKey),
    ...(Buffer.byteLength(JSON.stringify(flag)) > definitionBytesMax
      ? [{ field: "rules", message: `A flag has at most ${definitionBytesMax} bytes.` }]
      : []),
  ];
}

/** Checks the texts of a flag, which are stored and shown like its values. */
function textProblems({ key, description, owner, variants, rules }: FlagDefinition): FlagProblem[] {
  const texts = [
    ...Object.entries({ key, description, owner }),
    ...variants.map(({ name }, index) => [`variants[${index}].name`, name] as const),
    ...rules.map(({ name }, index) => [`rules[${index}].name`, name] as const),
  ];
  return texts.flatMap(([field, text]) => {
    const why = refusalOfTexts(text);
    return why === null ? [] : [{ field, message: `${field} must be ${why}.` }];
  });
}

function variantProblems({ variants, type, default: standard, off }: FlagDefinition): FlagProblem[] {
  const names = variants.map(({ name }) => name);
  const values = variants.flatMap(({ name, value }, index): FlagProblem[] => {
    const field = `variants[${index}]`;
    if (names.indexOf(name) < index)
      return [{ field: `${field}.name`, message: `The variant ${name} is defined twice.` }];
    if (!isOfType(value, type))
      return [{ field: `${field}.value`, message: `The value of ${name} must be ${article(type)}.` }];
    const why = refusalOfTexts(value);
    return why === null ? [] : [{ field: `${field}.value`, message: `The value of ${name} must be ${why}.` }];
  });
  const unknown = Object.entries({ default: standard, off }).filter(([, name]) => !names.includes(name));
  return [...values, ...unknown.map(([field, name]) => ({ field, message: `There is no variant ${name}.` }))];
}

function ruleProblems({ variants, rules }: FlagDefinition): FlagProblem[] {
  return rules.flatMap(({ variant, age, attributes = [], by, percentage }, index) => {
    const problems: FlagProblem[] = [];
    if (!variants.some(({ name }) => name === variant)) {
      problems.push({ field: `rules[${index}].variant`, message: `There is no variant ${variant}.` });
    }
    if (age && (age.from ?? 0) >= (age.to ?? Number.POSITIVE_INFINITY)) {
      problems.push({ field: `rules[${index}].age`, message: "from must be less than to." });
    }
    for (const [at, attribute] of attributes.entries()) {
      const problem = attributeProblem(attribute);
      const field = `rules[${index}].attributes[${at}]`;
      if (problem) problems.push({ field: `${field}.${problem.member}`, message: problem.message });
      const why = refusalOfTexts(attribute.value);
      if (why !== null)
        problems.push({ field: `${field}.value`, message: `The value of ${attribute.name} must be ${why}.` });
    }
    if (by !== undefined && percentage === undefined) {
      problems.push({ field: `rules[${index}].by`, message: "by is only allowed with percentage." });
    }
    return problems;
  });
}

function scheduleProblems({ schedule }: FlagDefinition): FlagProblem[] {
  if (!schedule?.from || !schedule.until || Date.parse(schedule.from) < Date.parse(schedule.until)) return [];
  return [{ field: "schedule", message: "from must be before until." }];
}

function prerequisiteProblems(flag: FlagDefinition, others: ReadonlyMap<string, FlagDefinition>): FlagProblem[] {
  return flag.prerequisites.flatMap(({ flag: key, variants }, index): FlagProblem[] => {
    const field = `prerequisites[${index}].flag`;
    if (key === flag.key || leadsTo(key, flag.key, others)) {
      return [{ field, message: `${key} depends on ${flag.key} itself.` }];
    }
    const known = others.get(key)?.variants.map(({ name }) => name);
    if (known === undefined) return [{ field, message: `There is no flag ${key}.` }];
    const unknown = variants.filter((name) => !known.includes(name));
    return unknown.map((name) => ({ field, message: `${key} has no variant ${name}.` }));
  });
}

/** Returns true when a flag depends on another one, directly or through others. */
function leadsTo(
  from: string,
  to: string,
  flags: ReadonlyMap<string, FlagDefinition>,
  seen = new Set<string>(),
): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  const next = flags.get(from)?.prerequisites ?? [];
  return next.some(({ flag }) => flag === to || leadsTo(flag, to, flags, seen));
}

function isOfType(value: unknown, type: FlagDefinition["type"]): boolean {
  switch (type) {
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "float":
      return Number.isFinite(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

/** Refuses credentials, masks and malformed characters in values, which accounts can read. */
function refusalOfTexts(value: unknown, depth = 0): string | null {
  if (depth > objectDepthMax) return `at most ${objectDepthMax} levels deep`;
  if (typeof value === "string") {
    if (!value.isWellFormed() || value.includes("\u0000")) return "well-formed Unicode without U+0000";
    if (value.includes(masked)) return `without ${masked}, which stands for a hidden value`;
    return maskText(value) === value ? null : "without credentials";
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const why = refusalOfTexts(name, depth) ?? refusalOfTexts(member, depth + 1);
    if (why !== null) return why;
  }
  return null;
}
