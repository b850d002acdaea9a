import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  parseValue,
  print,
  visit,
} from "graphql";

export interface TestOperation {
  readonly text: string;
  readonly variables: Record<string, unknown>;
}

/** A field that was written before, and what it takes to write it once more. */
interface Written {
  readonly field: GraphQLField<unknown, unknown>;
  readonly prefix: string;
  readonly args: readonly string[];
  readonly below: Place;
}

/** The names chosen at one place of the answer, to avoid clashes. */
class Place {
  readonly names = new Map<string, { signature: string; below: Place }>();
  /** The fields of the place, by the type that they were selected on. */
  readonly written: { readonly type: GraphQLCompositeType; readonly as: Written }[] = [];
}

const depthMax = 6;

/** Builds a valid operation from a list of choices; a shorter list builds a smaller one. */
export class OperationMaker {
  readonly #schema: GraphQLSchema;
  readonly #choices: readonly number[];
  readonly #declared: string[] = [];
  readonly #variables: Record<string, unknown> = {};
  readonly #fragments: string[] = [];
  #at = 0;

  constructor(schema: GraphQLSchema, choices: readonly number[]) {
    this.#schema = schema;
    this.#choices = choices;
  }

  make(): TestOperation {
    const mutations = this.#schema.getMutationType();
    const type = mutations && this.#choose(4) === 1 ? mutations : this.#schema.getQueryType();
    if (!type) throw new Error("no query type");
    const selection = this.#selectionOf(type, new Place(), 0);
    const declared = this.#declared.length === 0 ? "" : `(${this.#declared.join(", ")})`;
    const head = `${type === mutations ? "mutation" : "query"} Made${declared}`;
    return { text: [`${head} ${selection}`, ...this.#fragments].join("\n"), variables: this.#variables };
  }

  #choose(count: number): number {
    return (this.#choices[this.#at++] ?? 0) % count;
  }

  get #isSpent(): boolean {
    return this.#at >= this.#choices.length;
  }

  #selectionOf(type: GraphQLCompositeType, place: Place, depth: number): string {
    const count = 1 + this.#choose(4);
    const selections = Array.from({ length: count }, (_, at) =>
      at > 0 && this.#isSpent ? "" : this.#selection(type, place, depth),
    );
    return `{ ${selections.filter(Boolean).join(" ")} }`;
  }

  #selection(type: GraphQLCompositeType, place: Place, depth: number): string {
    const kind = this.#choose(9);
    if (kind === 8) return this.#repeated(type, place, depth);
    const [other] = this.#typesWithin(type);
    if ((kind >= 6 || isUnionType(type)) && other && !this.#isSpent) {
      const inner = this.#selectionOf(other, place, depth);
      if (kind === 7) {
        const name = `F${this.#fragments.length}`;
        this.#fragments.push(`fragment ${name} on ${other.name} ${inner}`);
        return `...${name}${this.#condition()}`;
      }
      return `... on ${other.name}${this.#condition()} ${inner}`;
    }
    if (kind === 5 || isUnionType(type)) return this.#typeName(place);
    const fields = Object.values(type.getFields()).filter(
      (field) => !isCompositeType(getNamedType(field.type)) || (depth < depthMax && !this.#isSpent),
    );
    const field = fields[this.#choose(fields.length)];
    return field ? this.#field(type, field, place, depth) : this.#typeName(place);
  }

  /** Writes a field of the place once more, with its arguments and the members of their objects in another order. */
  #repeated(type: GraphQLCompositeType, place: Place, depth: number): string {
    const here = place.written.filter((written) => written.type === type);
    const chosen = here[this.#choose(Math.max(1, here.length))];
    if (!chosen) return this.#typeName(place);
    const { field, prefix, args, below } = chosen.as;
    return this.#print(field, prefix, args.map(reordered).reverse(), below, depth);
  }

  #typeName(place: Place): string {
    const alias = this.#aliasFor(place, "__typename", "__typename");
    return `${alias.prefix}__typename${this.#condition()}`;
  }

  #typesWithin(type: GraphQLCompositeType): GraphQLCompositeType[] {
    const objects = isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
    const above = objects.flatMap((object) => object.getInterfaces());
    const all = [...objects, ...above, type];
    const chosen = all[this.#choose(all.length)];
    return chosen ? [chosen] : [];
  }

  #field(on: GraphQLCompositeType, field: GraphQLField<unknown, unknown>, place: Place, depth: number): string {
    const args = field.args.flatMap((argument) => this.#argument(argument));
    const signature = `${field.name}${[...args].sort().join()}${field.type}`;
    const { prefix, below } = this.#aliasFor(place, field.name, signature);
    place.written.push({ type: on, as: { field, prefix, args, below } });
    return this.#print(field, prefix, args, below, depth);
  }

  #print(
    field: GraphQLField<unknown, unknown>,
    prefix: string,
    args: readonly string[],
    below: Place,
    depth: number,
  ): string {
    const written = args.length === 0 ? "" : `(${args.join(", ")})`;
    const type = getNamedType(field.type);
    const selection = isCompositeType(type) ? ` ${this.#selectionOf(type, below, depth + 1)}` : "";
    return `${prefix}${field.name}${written}${this.#condition()}${selection}`;
  }

  #aliasFor(place: Place, fieldName: string, signature: string): { prefix: string; below: Place } {
    let name = this.#choose(4) === 0 ? `n${this.#choose(3)}` : fieldName;
    while ((place.names.get(name)?.signature ?? signature) !== signature) name = `x${place.names.size}`;
    const known = place.names.get(name) ?? { signature, below: new Place() };
    place.names.set(name, known);
    return { prefix: name === fieldName ? "" : `${name}: `, below: known.below };
  }

  #condition(): string {
    const kind = this.#choose(14);
    if (kind < 11) return "";
    const directive = this.#choose(2) === 0 ? "skip" : "include";
    const isTrue = this.#choose(2) === 0;
    if (kind === 11) return ` @${directive}(if: ${isTrue})`;
    return ` @${directive}(if: ${this.#variable("Boolean!", isTrue)})`;
  }

  #argument({ name, type, defaultValue }: GraphQLArgument): string[] {
    const isRequired = isNonNullType(type) && defaultValue === undefined;
    const kind = this.#choose(4);
    if (!isRequired && kind === 0) return [];
    if (!isRequired && kind === 3) {
      // A declared but omitted variable leaves the argument to its default.
      const variable = `v${this.#declared.length}`;
      this.#declared.push(`$${variable}: ${getNullableType(type)}`);
      return [`${name}: $${variable}`];
    }
    const value = this.#valueOf(type);
    return [`${name}: ${kind === 1 ? this.#variable(String(type), value) : this.#literal(type, value)}`];
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: ${type}`);
    this.#variables[name] = value;
    return `$${name}`;
  }

  #valueOf(type: GraphQLInputType): unknown {
    const nullable = getNullableType(type);
    if (!isNonNullType(type) && this.#choose(6) === 0) return null;
    if (isListType(nullable)) return Array.from({ length: this.#choose(3) }, () => this.#valueOf(nullable.ofType));
    if (isEnumType(nullable)) return nullable.getValues()[this.#choose(nullable.getValues().length)]?.name;
    if (isInputObjectType(nullable)) {
      const fields = Object.values(nullable.getFields()).filter(
        (field) => isNonNullType(field.type) || (!this.#isSpent && this.#choose(2) === 0),
      );
      return Object.fromEntries(fields.map((field) => [field.name, this.#valueOf(field.type)]));
    }
    if (nullable.name === "Int") return this.#choose(5);
    if (nullable.name === "Boolean") return this.#choose(2) === 0;
    return `t"${this.#choose(3)}`;
  }

  #literal(type: GraphQLInputType, value: unknown): string {
    const nullable = getNullableType(type);
    if (value === null) return "null";
    if (isListType(nullable))
      return `[${(value as unknown[]).map((item) => this.#literal(nullable.ofType, item)).join()}]`;
    if (isEnumType(nullable)) return String(value);
    if (!isInputObjectType(nullable)) return JSON.stringify(value);
    const fields = nullable.getFields();
    const members = Object.entries(value as object).map(([name, member]) => {
      const field = fields[name];
      if (!field) return "";
      const isVariable = this.#choose(4) === 1;
      return `${name}: ${isVariable ? this.#variable(String(field.type), member) : this.#literal(field.type, member)}`;
    });
    return `{${members.join()}}`;
  }
}

/** Prints an argument with the members of all of its objects in the opposite order. */
function reordered(argument: string): string {
  const [name = "", ...value] = argument.split(": ");
  const turned = visit(parseValue(value.join(": ")), {
    ObjectValue: { leave: (node) => ({ ...node, fields: node.fields.toReversed() }) },
  });
  return `${name}: ${print(turned)}`;
}
