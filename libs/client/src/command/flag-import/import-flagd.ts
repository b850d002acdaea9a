import {
  type Alternatives,
  allOf,
  type Fields,
  fieldsAt,
  type Imported,
  type ImportedFlag,
  type ImportedRule,
  ImportProblem,
  importEach,
  isFields,
  listAt,
  sharesOf,
} from "./imported-flag.ts";

/** Converts flags of flagd, with their targeting in JsonLogic and shared `$evaluators`. */
export function importFlagd(file: Fields): Imported {
  const evaluators = isFields(file.$evaluators) ? file.$evaluators : {};
  const flags = Object.entries(fieldsAt(file.flags, "flags"));
  return importEach(flags, ([key, flag]) => convert(key, fieldsAt(flag, `flags.${key}`), evaluators));
}

function convert(key: string, flag: Fields, evaluators: Fields): ImportedFlag {
  const at = `flags.${key}`;
  const variants = Object.entries(fieldsAt(flag.variants, `${at}.variants`)).map(([name, value]) => ({ name, value }));
  const { defaultVariant, state, metadata } = flag;
  if (typeof defaultVariant !== "string") throw new ImportProblem(`${at}.defaultVariant`, "must name a variant.");
  const description = isFields(metadata) && typeof metadata.description === "string" ? metadata.description : "";
  return {
    key,
    state: stateOf(state, `${at}.state`),
    type: typeOf(
      variants.map(({ value }) => value),
      `${at}.variants`,
    ),
    description,
    variants,
    default: defaultVariant,
    off: variants.some(({ name }) => name === "off") ? "off" : defaultVariant,
    rules: rulesOf(resolved(flag.targeting, evaluators, `${at}.targeting`), defaultVariant, `${at}.targeting`),
  };
}

function stateOf(state: unknown, field: string): ImportedFlag["state"] {
  if (state === undefined || state === "ENABLED") return "enabled";
  if (state === "DISABLED") return "disabled";
  throw new ImportProblem(field, "must be ENABLED or DISABLED.");
}

function typeOf(values: readonly unknown[], field: string): string {
  if (values.every((value) => typeof value === "boolean")) return "boolean";
  if (values.every((value) => typeof value === "string")) return "string";
  if (values.every((value) => typeof value === "number"))
    return values.every(Number.isSafeInteger) ? "integer" : "float";
  if (values.every(isFields)) return "object";
  throw new ImportProblem(field, "must have values of one type.");
}

const depthMax = 20;

/** Replaces `$ref` by the evaluator that it names. */
function resolved(logic: unknown, evaluators: Fields, field: string, depth = 0): unknown {
  if (depth > depthMax) throw new ImportProblem(field, `is more than ${depthMax} levels deep.`);
  if (Array.isArray(logic)) return logic.map((one) => resolved(one, evaluators, field, depth + 1));
  if (!isFields(logic)) return logic;
  const { $ref } = logic;
  if (typeof $ref === "string") {
    if (!Object.hasOwn(evaluators, $ref)) throw new ImportProblem(field, `refers to the unknown evaluator ${$ref}.`);
    return resolved(evaluators[$ref], evaluators, field, depth + 1);
  }
  return Object.fromEntries(
    Object.entries(logic).map(([name, value]) => [name, resolved(value, evaluators, field, depth + 1)]),
  );
}

/** Returns the operation of a JsonLogic object and its arguments; null for a constant. */
function operationOf(logic: unknown): readonly [name: string, args: readonly unknown[]] | null {
  const [only, ...others] = isFields(logic) ? Object.entries(logic) : [];
  if (only === undefined || others.length > 0) return null;
  return [only[0], Array.isArray(only[1]) ? only[1] : [only[1]]];
}

function rulesOf(targeting: unknown, defaultVariant: string, field: string): ImportedRule[] {
  if (targeting === undefined || targeting === null) return [];
  if (isFields(targeting) && Object.keys(targeting).length === 0) return [];
  const [name, args] = operationOf(targeting) ?? [];
  if (name !== "if" || args === undefined) return resultsOf(targeting, defaultVariant, [[]], field);
  const rules: ImportedRule[] = [];
  for (let at = 0; at < args.length; at += 2) {
    const place = `${field}.if[${at}]`;
    if (at + 1 === args.length) rules.push(...rulesOf(args[at], defaultVariant, place));
    else
      rules.push(...resultsOf(args[at + 1], defaultVariant, alternativesOf(args[at], place), `${field}.if[${at + 1}]`));
  }
  return rules;
}

/**
 * Writes the rules that give a result, or shares of several, under each of the alternatives. A result of null is the
 * default variant, before the branches that follow.
 */
function resultsOf(result: unknown, defaultVariant: string, alternatives: Alternatives, field: string): ImportedRule[] {
  const conditions = alternatives.map((all) => ruleConditions(all, field));
  if (result === null || typeof result === "string" || typeof result === "boolean")
    return conditions.map((rule) => ({ ...rule, variant: String(result ?? defaultVariant) }));
  const [name, args] = operationOf(result) ?? [];
  if (name !== "fractional" || args === undefined) throw new ImportProblem(field, "must be a variant or fractional.");
  const [first] = args;
  const by = Array.isArray(first) ? undefined : bucketedBy(first, field);
  const shares = (by === undefined && Array.isArray(first) ? args : args.slice(1)).map((share) => {
    const [variant, weight = 1] = listAt(share, field);
    if (typeof variant !== "string" || typeof weight !== "number")
      throw new ImportProblem(field, "must have a variant and a number in each share.");
    return { variant, weight };
  });
  const percentages = sharesOf(shares.map(({ weight }) => weight));
  return conditions.flatMap((rule) =>
    shares.map(({ variant }, at) => ({
      ...rule,
      percentage: percentages[at] ?? 0,
      ...(by !== undefined && by !== "targetingKey" && { by }),
      variant,
    })),
  );
}

/** Returns the attribute that chooses a share, alone or joined to the key of the flag. */
function bucketedBy(expression: unknown, field: string): string {
  const [name, args = []] = operationOf(expression) ?? [];
  const names = (name === "cat" ? args : [expression]).map(variableOf).filter((one) => one !== "$flagd.flagKey");
  const [only] = names;
  if (names.length === 1 && typeof only === "string") return only;
  throw new ImportProblem(field, "must choose shares by one attribute.");
}

/** Returns the name that `var` reads; null for another expression. */
function variableOf(expression: unknown): string | null {
  const [name, args = []] = operationOf(expression) ?? [];
  // Further arguments are a default, which no condition here has.
  return name === "var" && args.length === 1 && typeof args[0] === "string" ? args[0] : null;
}

/** The account is a condition of its own: the targeting key is its id. */
function ruleConditions(conditions: Alternatives[number], field: string): Omit<ImportedRule, "variant"> {
  const accounts = conditions.filter(({ name }) => name === "targetingKey");
  const attributes = conditions.filter(({ name }) => name !== "targetingKey");
  if (accounts.length > 1) throw new ImportProblem(field, "compares targetingKey twice.");
  return {
    ...(accounts[0] && { accounts: [accounts[0].value].flat().map(String) }),
    ...(attributes.length > 0 && { attributes }),
  };
}

const mirrored: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
const negated: Readonly<Record<string, string>> = {
  "==": "!=",
  "!=": "==",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  in: "not_in",
  not_in: "in",
};

function alternativesOf(logic: unknown, field: string): Alternatives {
  if (logic === true) return [[]];
  const [name, args] = operationOf(logic) ?? [];
  if (name === undefined || args === undefined) throw new ImportProblem(field, "must be a condition.");
  const parts = () => args.map((part, at) => alternativesOf(part, `${field}.${name}[${at}]`));
  if (name === "and") return allOf(parts(), field);
  if (name === "or") return parts().flat();
  if (name === "!") return [[negation(alternativesOf(args[0], `${field}.!`), field)]];
  return [[comparison(name.replace(/^([!=]=)=$/, "$1"), args, field)]];
}

function negation([only, ...others]: Alternatives, field: string): Alternatives[number][number] {
  const [condition, ...more] = only ?? [];
  const operator = condition && negated[condition.operator];
  if (others.length + more.length > 0 || condition === undefined || operator === undefined)
    throw new ImportProblem(field, "negates more than one simple comparison.");
  return checked({ ...condition, operator }, field);
}

function comparison(operator: string, args: readonly unknown[], field: string): Alternatives[number][number] {
  const [left, right, bound] = args;
  const name = variableOf(left);
  const other = variableOf(right);
  const unsupported = () => new ImportProblem(field, `${operator} of this form is not supported.`);
  if (operator === "sem_ver") {
    if (name === null || typeof right !== "string" || typeof bound !== "string") throw unsupported();
    return checked({ name, operator, value: `${right}${bound}` }, field);
  }
  // JsonLogic's "between" has three.
  if (args.length !== 2) throw unsupported();
  if (
    name !== null &&
    isConstant(right) &&
    ["==", "!=", "in", "starts_with", "ends_with", ...Object.keys(mirrored)].includes(operator)
  ) {
    // A text that has the attribute in it is no comparison of ours.
    if (operator === "in" && !Array.isArray(right)) throw unsupported();
    return checked({ name, operator, value: right }, field);
  }
  if (other === null || !isConstant(left)) throw unsupported();
  if (operator === "in") return checked({ name: other, operator: "contains", value: left }, field);
  const turned = operator === "==" || operator === "!=" ? operator : mirrored[operator];
  if (turned === undefined) throw unsupported();
  return checked({ name: other, operator: turned, value: left }, field);
}

const isConstant = (value: unknown): boolean => value !== undefined && value !== null && !isFields(value);

function checked<Found extends Alternatives[number][number]>(condition: Found, field: string): Found {
  const { name, operator } = condition;
  if (name.startsWith("$flagd.")) throw new ImportProblem(field, `${name} is not an attribute.`);
  if (name === "targetingKey" && operator !== "==" && operator !== "in")
    throw new ImportProblem(field, "targetingKey can only be compared by == and in.");
  return condition;
}
