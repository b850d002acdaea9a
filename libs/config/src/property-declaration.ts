/** The readers of a value: everyone, callers with `env:read`, nobody (masked), nobody and never an override (masked). */
type Secrecy = "public" | "internal" | "sensitive" | "secret";

interface Declared<Type extends string, Value> {
  readonly type: Type;
  /** The value when no source gives one; `null` means "none", which is allowed unless `required` says why not. */
  readonly default: Value | null;
  /** The reason why there is no default: the sentence an operator reads when the property is missing. */
  readonly required?: string;
  /** The unit of the number: `ms`, `bytes`, `items`, … */
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  /** The only texts allowed, for the value of a string or each item of a list. */
  readonly choices?: readonly string[];
  /** Source of a regular expression that the whole text, or each item, must match. */
  readonly pattern?: string;
  /** The longest text, or item of a list, in characters; 1,000 unless said. */
  readonly maxLength?: number;
  /** The most items of a list; 100 unless said. */
  readonly maxItems?: number;
  /** The fewest items of a list; none unless said. */
  readonly minItems?: number;
  /** The property that bounds this number from above, wherever both are declared. */
  readonly atMost?: string;
  /** The list that this text must be an item of, wherever both are declared. */
  readonly oneOf?: string;
  /** Says that "" is a value; where it is not, it means "none" or is refused. */
  readonly allowsEmpty?: true;
  /** Says that the text is a document, which may have tabs and several lines. */
  readonly multiline?: true;
  /** Takes no other value than its default, because this version has nothing else: what is announced is served. */
  readonly fixed?: true;
  readonly secrecy: Secrecy;
  /** The people who see the value in the settings; left out when it is not part of them. */
  readonly audience?: "public" | "account" | "operator";
  /** Decides if a change reaches subscribers at once or waits for the next start. */
  readonly reload: "live" | "restart";
  /** Takes no override from the database: the guard of something that a remote change must not open. */
  readonly local?: true;
  /** Says that a second operator has to approve a change, where `config.approval` asks for that. */
  readonly guarded?: true;
  /** One sentence: what changes when the value changes. */
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
