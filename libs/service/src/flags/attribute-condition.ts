import type { FlagDefinition } from "@signalbox/contracts";
import { readVersionRange } from "./version-range.ts";

/** The attributes of a context: whatever JSON its sender gave. */
export type Attributes = Readonly<Record<string, unknown>>;

export type AttributeRule = NonNullable<FlagDefinition["rules"][number]["attributes"]>[number];

/** Names that a context has from the account, which rules name by members of their own. */
const accountAttributes: Readonly<Record<string, string>> = {
  targetingKey: "accounts",
  roles: "roles",
  locale: "locales",
  createdAt: "age",
};

/** Finds an attribute by its name, or by a path of names with dots between them; undefined when it is absent. */
export function attributeOf(attributes: Attributes, name: string): unknown {
  if (Object.hasOwn(attributes, name)) return attributes[name] ?? undefined;
  let value: unknown = attributes;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Attributes)[part];
  }
  return value ?? undefined;
}

/**
 * Compiles a condition over an attribute. Equality is strict, the order of a number takes a text that is one, as flagd and
 * Unleash do; an absent attribute fulfils `!=` and `not_in` alone.
 */
export function compileAttribute({ name, operator, value }: AttributeRule): (attributes: Attributes) => boolean {
  const holds = comparisons[operator](value);
  const isOfAbsent = operator === "!=" || operator === "not_in";
  return (attributes) => {
    const attribute = attributeOf(attributes, name);
    return attribute === undefined ? isOfAbsent : holds(attribute);
  };
}

type Comparison = (value: unknown) => (attribute: unknown) => boolean;

/** Returns a number or the number that a text is; NaN, which has no order, for anything else. */
const numberOf = (attribute: unknown): number =>
  typeof attribute === "number" || (typeof attribute === "string" && attribute.trim() !== "")
    ? Number(attribute)
    : Number.NaN;

/** Compares numbers as numbers and texts by their code units; other pairs have no order. */
const ordered =
  (isRight: (difference: number) => boolean): Comparison =>
  (value) =>
  (attribute) => {
    if (typeof value === "number") return isRight(numberOf(attribute) - value);
    if (typeof attribute !== "string" || typeof value !== "string") return false;
    return isRight(attribute < value ? -1 : attribute > value ? 1 : 0);
  };

/** An attribute that is a list is in a list when one of its members is. */
const isIn: Comparison = (value) => {
  const known = new Set<unknown>([value].flat());
  return (attribute) => (Array.isArray(attribute) ? attribute.some((one) => known.has(one)) : known.has(attribute));
};

const textual =
  (isRight: (attribute: string, value: string) => boolean): Comparison =>
  (value) =>
  (attribute) =>
    typeof attribute === "string" && typeof value === "string" && isRight(attribute, value);

const comparisons: Readonly<Record<AttributeRule["operator"], Comparison>> = {
  "==": (value) => (attribute) => attribute === value,
  "!=": (value) => (attribute) => attribute !== value,
  "<": ordered((difference) => difference < 0),
  "<=": ordered((difference) => difference <= 0),
  ">": ordered((difference) => difference > 0),
  ">=": ordered((difference) => difference >= 0),
  in: isIn,
  not_in: (value) => {
    const holds = isIn(value);
    return (attribute) => !holds(attribute);
  },
  contains: (value) => (attribute) => {
    if (Array.isArray(attribute)) return attribute.includes(value);
    return typeof attribute === "string" && typeof value === "string" && attribute.includes(value);
  },
  starts_with: textual((attribute, value) => attribute.startsWith(value)),
  ends_with: textual((attribute, value) => attribute.endsWith(value)),
  sem_ver: (value) => {
    const range = typeof value === "string" ? readVersionRange(value) : null;
    return (attribute) => range !== null && typeof attribute === "string" && range(attribute);
  },
};

/** Returns the fault of a condition, with the member that has it; null for none. */
export function attributeProblem({ name, operator, value }: AttributeRule): { member: string; message: string } | null {
  const instead = accountAttributes[name];
  if (instead !== undefined)
    return { member: "name", message: `${name} is an attribute of the account: use ${instead} of the rule.` };
  const wrong = (kind: string) => ({ member: "value", message: `The value of ${operator} must be ${kind}.` });
  switch (operator) {
    case "in":
    case "not_in":
      return Array.isArray(value) ? null : wrong("a list");
    case "sem_ver":
      if (typeof value === "string" && readVersionRange(value) !== null) return null;
      return wrong("a version with an operator before it, such as ^1.2.0 or >=2.0.0");
    case "starts_with":
    case "ends_with":
      return typeof value === "string" && value !== "" ? null : wrong("a text");
    case "<":
    case "<=":
    case ">":
    case ">=":
      return typeof value === "number" || typeof value === "string" ? null : wrong("a number or a string");
    default:
      return Array.isArray(value) ? wrong("a string, number or boolean") : null;
  }
}
