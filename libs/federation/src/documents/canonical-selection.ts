import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isListType,
  isNonNullType,
} from "graphql";

/** A field of the canonical operation: with canonical response name and arguments. */
interface CanonicalField {
  /** `name` or `_a0: name`, with its arguments. */
  readonly head: string;
  readonly selection: CanonicalSelection | null;
}

/**
 * The selection on one object, in the canonical form that all operations of the same shape share: response names are
 * ours, and values are variables. Its fragments stand at the same place of the answer, so they share its names.
 */
export class CanonicalSelection {
  readonly names: ResponseNames;
  readonly fields = new Map<string, CanonicalField>();
  readonly #narrowed = new Map<string, CanonicalSelection>();

  constructor(names: ResponseNames) {
    this.names = names;
  }

  narrowedTo(type: string): CanonicalSelection {
    const narrowed = this.#narrowed.get(type) ?? new CanonicalSelection(this.names);
    this.#narrowed.set(type, narrowed);
    return narrowed;
  }

  get isEmpty(): boolean {
    return this.fields.size === 0 && [...this.#narrowed.values()].every((narrowed) => narrowed.isEmpty);
  }

  print(): string {
    const fields = [...this.fields.values()].map(({ head, selection }) => head + (selection?.print() ?? ""));
    const narrowed = [...this.#narrowed]
      .filter(([, selection]) => !selection.isEmpty)
      .map(([type, selection]) => `... on ${type}${selection.print()}`);
    const all = [...fields, ...narrowed];
    // An object without selected fields may still be missing.
    return `{${all.length === 0 ? "__typename" : all.join(" ")}}`;
  }
}

/**
 * The response names of the fields at one place of the answer. The same value has one name, regardless of the client's
 * names. The same object under two names stays two: a failure in one must not cost the other.
 */
export class ResponseNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #children = new Map<string, ResponseNames>();
  readonly #reserved: ReadonlySet<string>;
  #count = 0;

  /** `reserved` are the fields that the planner may add under their own names, with its own arguments. */
  constructor(reserved: ReadonlySet<string>) {
    this.#reserved = reserved;
  }

  /** `isRun` is true for mutations, which run each time they are requested. */
  nameOf(field: GraphQLField<unknown, unknown>, args: string, responseName: string, isRun: boolean): string {
    const isOne = !isRun && !isCompositeType(getNamedType(field.type));
    const identity = `${field.name}(${args})${shapeOf(field.type)}${isOne ? "" : ` ${responseName}`}`;
    const known = this.#names.get(identity);
    if (known !== undefined) return known;
    const isFree = !this.#reserved.has(field.name) || field.args.length === 0;
    // A name that every JavaScript object inherits would be found even on an object that lacks it.
    const isSafe = !(field.name in Object.prototype) && !this.#taken.has(field.name);
    const name = isFree && isSafe ? field.name : `_a${this.#count++}`;
    this.#taken.add(name);
    this.#names.set(identity, name);
    return name;
  }

  below(name: string): ResponseNames {
    const names = this.#children.get(name) ?? new ResponseNames(this.#reserved);
    this.#children.set(name, names);
    return names;
  }
}

/** Returns the shape that fields with one name at one place must share (SameResponseShape in graphql-js). */
function shapeOf(type: GraphQLOutputType): string {
  if (isNonNullType(type)) return `${shapeOf(type.ofType)}!`;
  if (isListType(type)) return `[${shapeOf(type.ofType)}]`;
  return isCompositeType(getNamedType(type)) ? "{}" : type.name;
}
