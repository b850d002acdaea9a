/** The readers of a value: everyone, callers with `env:read`, none (masked), none and never an override (masked). */
type Secrecy = "public" | "internal" | "sensitive" | "secret";

interface Declared<Type extends string, Value> {
  readonly type: Type;
  /** The value when no source has one; `null` means "none", which is allowed unless `required` gives a reason. */
  readonly default: Value | null;
  /** The reason why there is no default: shown to the operator when the property is missing. */
  readonly required?: string;
  /** The unit of the number: `ms`, `bytes`, `items`, … */
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  /** The only allowed texts, for the value of a string or each item of a list. */
  readonly choices?: readonly string[];
  /** The only texts that an override may choose; the others are left to the operator of the machine. */
  readonly overrideChoices?: readonly string[];
  /** Source of a regular expression that the whole text, or each item, must match. */
  readonly pattern?: string;
  /**
   * Requires an absolute URL, a BCP 47 tag or a pattern of names, of the whole text or each item: readers parse it, and
   * must not fail on it. A tag is read in its canonical form: `pt-br` is `pt-BR`.
   */
  readonly format?: "url" | "locale" | "name-pattern";
  /** Largest length of a text, or of an item of a list, in characters; default 1,000. */
  readonly maxLength?: number;
  /** Largest number of items of a list; default 100. */
  readonly maxItems?: number;
  /** Smallest number of items of a list; default 0. */
  readonly minItems?: number;
  /** The property that is the upper bound of this number, where both are declared. */
  readonly atMost?: string;
  /** The list that must contain this text, where both are declared. */
  readonly oneOf?: string;
  /** Makes "" a value; otherwise it means "none" or is refused. */
  readonly allowsEmpty?: true;
  /** Makes the text a document, which may have tabs and several lines. */
  readonly multiline?: true;
  /** Accepts only its default, because this version has nothing else: every announced feature exists. */
  readonly fixed?: true;
  readonly secrecy: Secrecy;
  /** The audience of the value in the settings; absent when it is not part of them. */
  readonly audience?: "public" | "account" | "operator";
  /** Decides whether a change reaches subscribers immediately or waits for the next start. */
  readonly reload: "live" | "restart";
  /** Excludes overrides from the database: the property guards something that a remote change must not open. */
  readonly local?: true;
  /** Requires the approval of a change by a second operator, where `config.approval` demands it. */
  readonly guarded?: true;
  /** One sentence: the effect of the value. */
  readonly effect: string;
}

/** One property, declared once. Durations are integers in milliseconds (`unit: "ms"`). */
export type PropertyDeclaration =
  | Declared<"string", string>
  | Declared<"integer" | "number", number>
  | Declared<"boolean", boolean>
  | Declared<"list", readonly string[]>;

export type PropertyDeclarations = Readonly<Record<string, PropertyDeclaration>>;

/** Any value a property can have. */
export type PropertyScalar = string | number | boolean | readonly string[] | null;

type Present<D> = D extends { readonly type: "integer" | "number" }
  ? number
  : D extends { readonly type: "boolean" }
    ? boolean
    : D extends { readonly choices: readonly (infer Choice extends string)[]; readonly type: "string" }
      ? Choice
      : D extends { readonly type: "list" }
        ? readonly string[]
        : string;

/** The type of a property's value: `null` only where the default is null and the property is not required. */
type PropertyValue<D> = D extends { readonly required: string }
  ? Present<D>
  : D extends { readonly default: null }
    ? Present<D> | null
    : Present<D>;

/** The values of a set of declarations, by name. */
export type PropertyValues<P> = { readonly [N in keyof P]: PropertyValue<P[N]> };

/** Declares properties, keeping their exact types so that `get` knows what it returns. */
export function defineProperties<const P extends PropertyDeclarations>(properties: P): P {
  return properties;
}

type Rest = Partial<Omit<PropertyDeclaration, "type" | "effect" | "default">> & { readonly default: PropertyScalar };
type Settled<Type, Given> = Given & {
  readonly type: Type;
  readonly secrecy: Secrecy;
  readonly reload: "live" | "restart";
  readonly effect: string;
};

const declares =
  <const Type extends PropertyDeclaration["type"]>(type: Type) =>
  <const Given extends Rest>(given: Given, effect: string): Settled<Type, Given> => ({
    type,
    secrecy: "internal",
    reload: "restart",
    ...given,
    effect,
  });

/** Declares one property, `internal` and read at the start unless `given` differs; `effect` is one sentence. */
export const property = {
  string: declares("string"),
  integer: declares("integer"),
  number: declares("number"),
  boolean: declares("boolean"),
  list: declares("list"),
};
