import { isKept } from "../exact-json.ts";
import {
  type Alternatives,
  allOf,
  type Condition,
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

/**
 * Converts features of Unleash: of `/api/client/features`, whose members are within each feature, or of an export, whose
 * strategies are beside them. Of an export with several environments one must be named.
 */
export function importUnleash(file: Fields, environment?: string): Imported {
  if (!Array.isArray(file.features)) throw new ImportProblem("features", "must be a list.");
  const features: readonly unknown[] = file.features;
  const segments = segmentsOf(file);
  const joined = features.map((feature, at) => {
    const field = `features[${at}]`;
    const own = fieldsAt(feature, field);
    if (typeof own.name !== "string") throw new ImportProblem(`${field}.name`, "must be a string.");
    return { key: own.name, feature: inEnvironment(own, file, environment), field };
  });
  return importEach(joined, ({ key, feature, field }) => convert(key, feature, { field, segments }));
}

interface Place {
  readonly field: string;
  readonly segments: ReadonlyMap<unknown, readonly unknown[]>;
}

const segmentsOf = (file: Fields): Place["segments"] =>
  new Map(
    listAt(file.segments, "segments")
      .filter(isFields)
      .map(({ id, constraints }) => {
        if (!Array.isArray(constraints)) throw new ImportProblem("segments.constraints", "must be a list.");
        return [id, constraints];
      }),
  );

/** Adds to a feature of an export what the environment says of it. */
function inEnvironment(feature: Fields, file: Fields, environment: string | undefined): Fields {
  const states = listAt(file.featureEnvironments, "featureEnvironments").filter(isFields);
  if (states.length === 0) return feature;
  const names = [...new Set(states.map((state) => String(state.environment)))];
  const [only, ...others] = environment === undefined ? names : names.filter((name) => name === environment);
  if (only === undefined || others.length > 0)
    throw new ImportProblem("featureEnvironments", `name one environment with --environment: ${names.join(", ")}.`);
  const isOfFeature = (one: Fields) => one.featureName === feature.name && one.environment === only;
  const strategies = listAt(file.featureStrategies, "featureStrategies").filter(isFields).filter(isOfFeature);
  return { ...feature, enabled: false, ...states.find(isOfFeature), strategies };
}

function convert(key: string, feature: Fields, { field, segments }: Place): ImportedFlag {
  const { enabled, description, variants } = feature;
  refuseList(feature.dependencies, `${field}.dependencies`);
  const shares = variantsOf(variants, `${field}.variants`);
  const given = listAt(feature.strategies, `${field}.strategies`);
  // Without any strategy a feature is on for everybody.
  const strategies = given.length === 0 ? [{ name: "default" }] : given;
  const rules = strategies.flatMap((strategy, at) => {
    const place = { field: `${field}.strategies[${at}]`, segments };
    return rulesOf(fieldsAt(strategy, place.field), shares, place);
  });
  const off = { name: "disabled", value: "disabled" };
  return {
    key,
    state: enabled === false ? "disabled" : "enabled",
    description: typeof description === "string" ? description : "",
    ...(shares.length === 0
      ? {
          type: "boolean",
          variants: [
            { name: "on", value: true },
            { name: "off", value: false },
          ],
        }
      : { type: "string", variants: [...shares.map(({ name, value }) => ({ name, value })), off] }),
    default: shares.length === 0 ? "off" : off.name,
    off: shares.length === 0 ? "off" : off.name,
    rules,
  };
}

/** Refuses what has no counterpart here: left out, it would change who gets what. */
function refuseList(value: unknown, field: string): void {
  if (listAt(value, field).length > 0) throw new ImportProblem(field, "is not supported.");
}

interface Share {
  readonly name: string;
  readonly value: string;
  readonly weight: number;
}

function variantsOf(variants: unknown, field: string): Share[] {
  return listAt(variants, field).map((variant, at) => {
    const { name, weight, payload, overrides } = fieldsAt(variant, `${field}[${at}]`);
    refuseList(overrides, `${field}[${at}].overrides`);
    if (typeof name !== "string" || typeof weight !== "number")
      throw new ImportProblem(`${field}[${at}]`, "must have a name and a weight.");
    const value = isFields(payload) && typeof payload.value === "string" ? payload.value : name;
    return { name, value, weight };
  });
}

/** A strategy gives the flag, or one of its variants, to everybody whom its conditions name. */
function rulesOf(strategy: Fields, shares: readonly Share[], { field, segments }: Place): ImportedRule[] {
  if (strategy.disabled === true) return [];
  refuseList(strategy.variants, `${field}.variants`);
  const { conditions, rollOut, by } = audienceOf(strategy, field);
  const constraints = [
    ...listAt(strategy.segments, `${field}.segments`).flatMap((id) => constraintsOf(id, segments, field)),
    ...listAt(strategy.constraints, `${field}.constraints`),
  ];
  const parts = constraints.map((constraint, at) => {
    const place = `${field}.constraints[${at}]`;
    return alternativesOf(fieldsAt(constraint, place), place);
  });
  const percentages = sharesOf(
    shares.map(({ weight }) => weight),
    rollOut ?? 100,
  );
  return allOf([conditions, ...parts], field).flatMap((attributes) => {
    const rule = attributes.length > 0 ? { attributes } : {};
    const bucket = by === null ? {} : { by };
    if (shares.length > 0)
      return shares.map(({ name }, at) => ({ ...rule, percentage: percentages[at] ?? 0, ...bucket, variant: name }));
    return [{ ...rule, ...(rollOut !== null && { percentage: rollOut, ...bucket }), variant: "on" }];
  });
}

function constraintsOf(id: unknown, segments: Place["segments"], field: string): readonly unknown[] {
  const found = segments.get(id);
  if (found === undefined) throw new ImportProblem(`${field}.segments`, `refers to the unknown segment ${String(id)}.`);
  return found;
}

interface Audience {
  readonly conditions: Alternatives;
  /** Null for everybody. */
  readonly rollOut: number | null;
  readonly by: string | null;
}

const everybody: Audience = { conditions: [[]], rollOut: null, by: null };

const words = (text: unknown): string[] =>
  String(text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

const oneOf = (name: string, value: readonly string[]): Audience =>
  value.length === 0
    ? { ...everybody, conditions: [] }
    : { ...everybody, conditions: [[{ name, operator: "in", value }]] };

function audienceOf({ name, parameters }: Fields, field: string): Audience {
  const given = isFields(parameters) ? parameters : {};
  switch (name) {
    case "default":
      return everybody;
    case "userWithId":
      return oneOf("userId", words(given.userIds));
    case "remoteAddress":
      if (String(given.IPs).includes("/")) throw new ImportProblem(`${field}.parameters.IPs`, "must not be ranges.");
      return oneOf("remoteAddress", words(given.IPs));
    case "gradualRolloutUserId":
      return { ...everybody, rollOut: percentageIn(given.percentage, `${field}.parameters.percentage`), by: "userId" };
    case "gradualRolloutSessionId":
      return {
        ...everybody,
        rollOut: percentageIn(given.percentage, `${field}.parameters.percentage`),
        by: "sessionId",
      };
    case "flexibleRollout": {
      const { stickiness = "default", rollout } = given;
      const rollOut = percentageIn(rollout, `${field}.parameters.rollout`);
      if (stickiness === "random")
        throw new ImportProblem(
          `${field}.parameters.stickiness`,
          "random is not supported: it changes on every evaluation.",
        );
      if (rollOut === 100) return everybody;
      return { ...everybody, rollOut, by: stickiness === "default" ? "userId" : String(stickiness) };
    }
    default:
      throw new ImportProblem(`${field}.name`, `The strategy ${String(name)} is not supported.`);
  }
}

function percentageIn(text: unknown, field: string): number {
  const percentage = String(text ?? "").trim() === "" ? Number.NaN : Number(text);
  if (percentage >= 0 && percentage <= 100) return percentage;
  throw new ImportProblem(field, "must be a number from 0 to 100.");
}

/** Operators with the ones that mean the opposite. */
const single: Readonly<Record<string, readonly [operator: string, inverted: string]>> = {
  NUM_EQ: ["==", "!="],
  NUM_GT: [">", "<="],
  NUM_GTE: [">=", "<"],
  NUM_LT: ["<", ">="],
  NUM_LTE: ["<=", ">"],
};
const ofVersions: Readonly<Record<string, readonly [operator: string, inverted: string]>> = {
  SEMVER_EQ: ["=", "!="],
  SEMVER_GT: [">", "<="],
  SEMVER_LT: ["<", ">="],
};
const ofTexts: Readonly<Record<string, string>> = {
  STR_CONTAINS: "contains",
  STR_STARTS_WITH: "starts_with",
  STR_ENDS_WITH: "ends_with",
};

function alternativesOf(constraint: Fields, field: string): Alternatives {
  const { contextName: name, operator, value, inverted = false, caseInsensitive = false } = constraint;
  const values = listAt(constraint.values, `${field}.values`).map(String);
  if (typeof name !== "string" || typeof operator !== "string")
    throw new ImportProblem(field, "must have contextName and operator.");
  if (caseInsensitive)
    throw new ImportProblem(`${field}.caseInsensitive`, "case-insensitive comparison is not supported.");
  const at = inverted ? 1 : 0;
  const one = (condition: Omit<Condition, "name">): Alternatives => [[{ name, ...condition }]];
  if (operator === "IN" || operator === "NOT_IN")
    return one({ operator: (operator === "IN") === !inverted ? "in" : "not_in", value: values });
  const number = single[operator];
  if (number) return one({ operator: number[at] ?? "", value: numberIn(value, `${field}.value`) });
  const version = ofVersions[operator];
  if (version) return one({ operator: "sem_ver", value: `${version[at]}${String(value)}` });
  const text = ofTexts[operator];
  if (text === undefined || inverted)
    throw new ImportProblem(`${field}.operator`, `${inverted ? "Inverted " : ""}${operator} is not supported.`);
  return values.map((each) => [{ name, operator: text, value: each }]);
}

function numberIn(text: unknown, field: string): number {
  const number = text === undefined || text === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) throw new ImportProblem(field, "must be a number.");
  if (!isKept(String(text))) throw new ImportProblem(field, `${String(text)} would be rounded.`);
  return number;
}
