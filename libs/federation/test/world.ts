import { createHash } from "node:crypto";
import {
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from "graphql";

/** Rules of a test supergraph's data besides its schema. */
export interface WorldRules {
  /** `Type.field` to the fields that its `@requires` names. */
  readonly requires?: Readonly<Record<string, string>>;
  /** `Type.field` whose object has the id of its parent: parts of keys. */
  readonly ownId?: readonly string[];
  /** `Type.field` to the interface whose entities a subgraph knows as one type. */
  readonly interfaceFields?: Readonly<Record<string, string>>;
  /** `Type.field` that never fails, because keys or requirements need it. */
  readonly steady?: readonly string[];
}

export interface Thing {
  readonly __typename: string;
  readonly $id: string;
  /** The representation that the subgraph received. */
  readonly $representation?: Readonly<Record<string, unknown>>;
}

const digest = (text: string) => createHash("md5").update(text).digest().readUInt32BE();
const idsPerType = 5;

/**
 * A world in which every field of every entity has a value computed from its place alone. Subgraphs and one merged
 * schema resolved from it must agree.
 */
export class World {
  readonly #supergraph: GraphQLSchema;
  readonly #api: GraphQLSchema;
  readonly #rules: WorldRules;
  /** Makes fields fail; none at zero. */
  faultSeed = 0;
  /** Every mutation that ran, with its arguments. */
  readonly mutations: string[] = [];

  constructor(supergraph: GraphQLSchema, api: GraphQLSchema, rules: WorldRules) {
    this.#supergraph = supergraph;
    this.#api = api;
    this.#rules = rules;
  }

  /** Resolves any field of any schema of this world. */
  readonly resolve: GraphQLFieldResolver<Thing | undefined, unknown> = (source, args, _context, info) => {
    const parent = source ?? { __typename: info.parentType.name, $id: "root" };
    const { fieldName } = info;
    if (info.parentType.name === "Mutation") this.mutations.push(`${fieldName} ${JSON.stringify(args)}`);
    const place = `${parent.__typename}.${fieldName}`;
    const owner = this.#rules.interfaceFields?.[place] ?? parent.__typename;
    const isSteady = this.#rules.steady?.includes(`${owner}.${fieldName}`) || fieldName === "id";
    if (this.faultSeed !== 0 && !isSteady && digest(`${this.faultSeed} ${owner} ${parent.$id} ${fieldName}`) % 9 === 0)
      throw new GraphQLError("planted", { extensions: { code: "NOT_FOUND" } });
    const needed = this.#rules.requires?.[`${owner}.${fieldName}`];
    if (needed === undefined) return this.valueOf(parent, fieldName, args);
    const { selectionSet } = parse(`{ ${needed} }`).definitions[0] as { selectionSet: SelectionSetNode };
    const required = parent.$representation
      ? this.#pickFrom(parent.$representation, selectionSet)
      : this.#pick(parent, selectionSet);
    const own = this.valueOf(parent, fieldName, args);
    return typeof own === "number" ? digest(JSON.stringify(required)) % 1000 : JSON.stringify(required);
  };

  valueOf(parent: Thing, fieldName: string, args: object): unknown {
    const owner = this.#rules.interfaceFields?.[`${parent.__typename}.${fieldName}`] ?? parent.__typename;
    const type = this.#supergraph.getType(owner) ?? this.#supergraph.getType(parent.__typename);
    if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`no type ${owner}`);
    const field = type.getFields()[fieldName];
    if (!field) throw new Error(`no field ${owner}.${fieldName}`);
    const given = Object.entries(args).filter(([, value]) => value !== undefined);
    const suffix = given.length === 0 ? "" : JSON.stringify(given.sort(([a], [b]) => a.localeCompare(b)));
    const ownId = this.#rules.ownId?.includes(`${owner}.${fieldName}`) ? parent.$id : null;
    return this.#make(field.type, {
      seed: `${owner} ${parent.$id} ${fieldName} ${suffix}`,
      fieldName,
      ownId,
      parent,
      suffix,
    });
  }

  #make(
    type: GraphQLOutputType,
    from: { seed: string; fieldName: string; ownId: string | null; parent: Thing; suffix: string },
  ): unknown {
    const chance = digest(from.seed);
    const nullable = getNullableType(type);
    const named = getNamedType(type);
    const isScalarText = !isListType(nullable) && (named.name === "ID" || named.name === "String");
    if (!isNonNullType(type) && !isScalarText && from.ownId === null && chance % 8 === 0) return null;
    if (isListType(nullable)) {
      return Array.from({ length: chance % 4 }, (_, at) =>
        this.#make(nullable.ofType, { ...from, seed: `${from.seed} ${at}` }),
      );
    }
    if (isScalarText) return `${from.fieldName}-${from.parent.$id}${from.suffix}`;
    if (named.name === "Int") return chance % 1000;
    if (named.name === "Float") return (chance % 1000) / 8;
    if (named.name === "Boolean") return chance % 2 === 0;
    if (isEnumType(named)) {
      const visible = this.#api.getType(named.name);
      const values = isEnumType(visible) ? visible.getValues() : named.getValues();
      return values[chance % values.length]?.name;
    }
    if (isAbstractType(named)) return this.thing(named.name, from.ownId ?? String(chance % idsPerType));
    return isObjectType(named)
      ? this.#objectOf(named.name, from.ownId ?? String(chance % idsPerType))
      : `scalar ${from.seed}`;
  }

  /** Chooses an id for which all interfaces of the type give the same type. */
  #objectOf(name: string, id: string): Thing {
    const type = this.#supergraph.getType(name);
    if (!isObjectType(type)) throw new Error(name);
    for (let at = Number(id); ; at++) {
      const candidate = Number.isNaN(at) ? id : String(at);
      const isOfAll = type.getInterfaces().every((above) => this.thing(above.name, candidate).__typename === name);
      if (isOfAll || Number.isNaN(at) || at > 100) return { __typename: name, $id: candidate };
    }
  }

  /** Returns the thing of an id, with its type in this world. */
  thing(name: string, id: string): Thing {
    const type = this.#api.getType(name) ?? this.#supergraph.getType(name);
    if (!isAbstractType(type)) return { __typename: name, $id: id };
    const possible = this.#api.getPossibleTypes(type);
    const chosen = possible[digest(`${name} ${id}`) % possible.length];
    if (!chosen) throw new Error(`no type for ${name}`);
    return { __typename: chosen.name, $id: id };
  }

  /** Returns the entity of a representation. */
  entity(representation: Readonly<Record<string, unknown>>, schema: GraphQLSchema): Thing {
    const name = String(representation.__typename);
    const id = idIn(representation);
    if (id === null) throw new Error(`no key in ${JSON.stringify(representation)}`);
    const found = isInterfaceType(schema.getType(name)) ? this.thing(name, id) : { __typename: name, $id: id };
    return { ...found, $representation: representation };
  }

  #pick(thing: unknown, selections: SelectionSetNode): unknown {
    if (thing === null || thing === undefined) return null;
    if (Array.isArray(thing)) return thing.map((item) => this.#pick(item, selections));
    const object = thing as Thing;
    const picked: Record<string, unknown> = {};
    for (const selection of selections.selections) {
      if (selection.kind === Kind.FIELD) {
        const args = Object.fromEntries(
          (selection.arguments ?? []).map(({ name, value }) => [name.value, (value as { value?: unknown }).value]),
        );
        for (const [name, value] of Object.entries(args)) if (/^\d+$/.test(String(value))) args[name] = Number(value);
        const value = this.valueOf(object, selection.name.value, args);
        picked[selection.name.value] = selection.selectionSet ? this.#pick(value, selection.selectionSet) : value;
      } else if (
        selection.kind === Kind.INLINE_FRAGMENT &&
        this.#isOf(object.__typename, selection.typeCondition?.name.value)
      )
        Object.assign(picked, this.#pick(thing, selection.selectionSet));
    }
    return picked;
  }

  #pickFrom(representation: unknown, selections: SelectionSetNode): unknown {
    if (representation === null || representation === undefined) return null;
    if (Array.isArray(representation)) return representation.map((item) => this.#pickFrom(item, selections));
    const object = representation as Record<string, unknown>;
    const picked: Record<string, unknown> = {};
    for (const selection of selections.selections) {
      if (selection.kind === Kind.FIELD) {
        const value = object[selection.name.value];
        if (value === undefined)
          throw new Error(`${selection.name.value} is missing in: ${JSON.stringify(representation)}`);
        picked[selection.name.value] = selection.selectionSet ? this.#pickFrom(value, selection.selectionSet) : value;
      } else if (
        selection.kind === Kind.INLINE_FRAGMENT &&
        this.#isOf(String(object.__typename), selection.typeCondition?.name.value)
      )
        Object.assign(picked, this.#pickFrom(representation, selection.selectionSet));
    }
    return picked;
  }

  #isOf(name: string, condition: string | undefined): boolean {
    if (condition === undefined || name === condition) return true;
    const [type, wanted] = [this.#supergraph.getType(name), this.#supergraph.getType(condition)];
    return isObjectType(type) && isAbstractType(wanted) && this.#supergraph.isSubType(wanted, type);
  }
}

/** Every text of this world ends with the id of its owner. */
function idIn(representation: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(representation)) {
    if (name === "__typename") continue;
    if (typeof value === "string" && value.startsWith(`${name}-`))
      return value.slice(name.length + 1).replace(/\[.*/, "");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = idIn(value as Record<string, unknown>);
      if (inner !== null) return inner;
    }
  }
  return null;
}
