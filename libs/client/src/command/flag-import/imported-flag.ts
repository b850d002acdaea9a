/** A condition over an attribute, as a rule of a flag has it. */
export interface Condition {
  readonly name: string;
  readonly operator: string;
  readonly value: unknown;
}

export interface ImportedRule {
  readonly accounts?: readonly string[];
  readonly attributes?: readonly Condition[];
  readonly percentage?: number;
  readonly by?: string;
  readonly variant: string;
}

/** A flag of another product as `setFlag` takes it, besides its owner. */
export interface ImportedFlag {
  readonly key: string;
  readonly state: "enabled" | "disabled";
  readonly type: string;
  readonly description: string;
  readonly variants: readonly { readonly name: string; readonly value: unknown }[];
  readonly default: string;
  readonly off: string;
  readonly rules: readonly ImportedRule[];
}

/** A part of a file that has no counterpart here. `field` is its path in the file. */
export class ImportProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.field = field;
  }
}

export interface Imported {
  readonly flags: readonly ImportedFlag[];
  readonly problems: readonly ImportProblem[];
}

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object of the file. @throws ImportProblem */
export function fieldsAt(value: unknown, field: string): Fields {
  if (isFields(value)) return value;
  throw new ImportProblem(field, "must be an object.");
}

/** Returns a list of the file, empty when it is absent. @throws ImportProblem */
export function listAt(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new ImportProblem(field, "must be a list.");
}

/** Converts each flag, and collects the problems of those that cannot be converted. */
export function importEach<Source>(sources: Iterable<Source>, convert: (source: Source) => ImportedFlag): Imported {
  const flags: ImportedFlag[] = [];
  const problems: ImportProblem[] = [];
  for (const source of sources) {
    try {
      flags.push(convert(source));
    } catch (error) {
      if (!(error instanceof ImportProblem)) throw error;
      problems.push(error);
    }
  }
  return { flags, problems };
}

/** Alternatives, of which each is a list of conditions that must all hold. */
export type Alternatives = readonly (readonly Condition[])[];

/** A flag has at most 50 rules, and every alternative is one. */
const alternativesMax = 50;

/** Combines parts that must all hold. @throws ImportProblem when there would be too many alternatives */
export function allOf(parts: readonly Alternatives[], field: string): Alternatives {
  return parts.reduce<Alternatives>(
    (sofar, part) => {
      if (sofar.length * part.length > alternativesMax)
        throw new ImportProblem(field, `has more than ${alternativesMax} combinations of alternatives.`);
      return sofar.flatMap((before) => part.map((more) => [...before, ...more]));
    },
    [[]],
  );
}

/** Writes weights as growing percentages: rules of one flag share their buckets, so each takes what the ones before left. */
export function sharesOf(weights: readonly number[], total = 100): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let sofar = 0;
  return weights.map((weight) => {
    sofar += weight;
    return sum === 0 ? 0 : Math.round((sofar / sum) * total * 1_000) / 1_000;
  });
}
