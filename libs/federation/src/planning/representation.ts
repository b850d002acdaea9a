import type { QueryPlanFieldNode, QueryPlanSelectionNode } from "@apollo/query-planner";
import { type GraphQLSchema, isAbstractType, isInterfaceType, isObjectType } from "graphql";
import { hostOf, isAbsent, listOf, memberOf, type Part, type Parts, type PlanScope, readItems } from "./plan-scope.ts";

/** The representation of an entity in a request to a subgraph. */
export interface Representation {
  /** Writes the representation and returns what `taken` makes of it; null when a required member is missing. */
  write<Taken>(scope: PlanScope, parts: Parts, taken: TakenRepresentations<Taken>): Taken | null;
  /** Returns the parts that its first members are read from, to find the reason for a missing one. */
  partsNeeded(scope: PlanScope, parts: Parts): Part[];
}

/** The representations of one fetch. An entity that stands in many places is written once if its key is a leaf. */
export class TakenRepresentations<Taken> {
  readonly take: (text: string) => Taken;
  readonly #byKey = new Map<string, Map<unknown, Taken | null>>();

  constructor(take: (text: string) => Taken) {
    this.take = take;
  }

  /** Returns the written entities of a type with one leaf key, by its value. */
  ofType(typeName: string): Map<unknown, Taken | null> {
    const known = this.#byKey.get(typeName);
    if (known) return known;
    const ofType = new Map<unknown, Taken | null>();
    this.#byKey.set(typeName, ofType);
    return ofType;
  }
}

/** `typeRewrites` are the subgraph's names of entity types. */
export function createRepresentation(
  supergraph: GraphQLSchema,
  requires: readonly QueryPlanSelectionNode[],
  typeRewrites: ReadonlyMap<string, string>,
): Representation {
  const types = new TypeNames(supergraph);
  const selection = new RequiredSelection(types, requires);
  const sentNames = new Map<string, string>();
  const sentAs = (typeName: string): string => {
    const known = sentNames.get(typeName);
    if (known !== undefined) return known;
    const name = [...typeRewrites].find(([type]) => types.isOf(typeName, type))?.[1] ?? typeName;
    sentNames.set(typeName, name);
    return name;
  };
  return {
    write(scope, parts, taken) {
      const typeName = types.nameOf(parts);
      if (typeName === null) return null;
      const key = selection.onlyKeyOf(typeName);
      const ofType = key === null ? null : taken.ofType(typeName);
      const value = key === null ? undefined : read(scope, parts, key);
      const known = ofType?.get(value);
      if (known !== undefined) return known;
      const text = selection.write(scope, parts, typeName, sentAs(typeName));
      // Without a type it is no representation.
      const made = text?.includes('"__typename":') ? taken.take(text) : null;
      ofType?.set(value, made);
      return made;
    },
    partsNeeded(scope, parts) {
      const typeName = types.nameOf(parts);
      const names = typeName === null ? ["__typename"] : selection.fieldsOf(typeName).map(({ name }) => name);
      return names.flatMap((name) => scope.placesOf(name).map((at) => parts[at]));
    },
  };
}

/** Type names of the supergraph, including types that are not public. */
export class TypeNames {
  readonly #supergraph: GraphQLSchema;
  readonly #objects = new Map<string, boolean>();

  constructor(supergraph: GraphQLSchema) {
    this.#supergraph = supergraph;
  }

  /** Returns the type of an object: one subgraph may know only its interface, another the type itself. */
  nameOf(parts: Parts): string | null {
    let found: string | null = null;
    for (const part of parts) {
      const name = memberOf(part, "__typename");
      if (typeof name !== "string") continue;
      if (this.#isObject(name)) return name;
      found ??= name;
    }
    return found;
  }

  #isObject(name: string): boolean {
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const isObject = isObjectType(this.#supergraph.getType(name));
    // A subgraph may send any name: only names of the supergraph are cached.
    if (isObject) this.#objects.set(name, isObject);
    return isObject;
  }

  isOf(name: string, condition: string): boolean {
    if (name === condition) return true;
    const type = this.#supergraph.getType(name);
    const wanted = this.#supergraph.getType(condition);
    return (isObjectType(type) || isInterfaceType(type)) && isAbstractType(wanted)
      ? this.#supergraph.isSubType(wanted, type)
      : false;
  }
}

interface RequiredField {
  readonly name: string;
  /** Text before the value: a brace or a comma, and the name. */
  readonly start: string;
  readonly selection: RequiredSelection | null;
}

/** The members that a representation includes, by type. */
class RequiredSelection {
  readonly #types: TypeNames;
  readonly #nodes: readonly QueryPlanSelectionNode[];
  readonly #fields = new Map<string | null, readonly RequiredField[]>();
  readonly #onlyKeys = new Map<string, string | null>();

  constructor(types: TypeNames, nodes: readonly QueryPlanSelectionNode[]) {
    this.#types = types;
    this.#nodes = nodes;
  }

  /** Returns null when the object is null or lacks a member. `sentAs` is the subgraph's name of its type. */
  write(scope: PlanScope, parts: Parts, typeName: string | null, sentAs: string | null): string | null {
    if (isAbsent(hostOf(parts))) return null;
    let text = "";
    for (const { name, start, selection } of this.fieldsOf(typeName)) {
      const value = name === "__typename" ? sentAs : read(scope, parts, name);
      if (value === undefined || typeof value === "function") return null;
      const written = selection
        ? writeBelow(selection, scope.belowField(name), scope.readBases(name, parts))
        : JSON.stringify(value);
      text += start + written;
    }
    return text === "" ? "{}" : `${text}}`;
  }

  /** Returns the single leaf besides the type; null when there are more members. */
  onlyKeyOf(typeName: string): string | null {
    const known = this.#onlyKeys.get(typeName);
    if (known !== undefined) return known;
    const keys = this.fieldsOf(typeName).filter(({ name }) => name !== "__typename");
    const [key] = keys;
    const onlyKey = keys.length === 1 && key?.selection === null ? key.name : null;
    this.#onlyKeys.set(typeName, onlyKey);
    return onlyKey;
  }

  /** The same for an object whose type was not determined. */
  writeObject(scope: PlanScope, parts: Parts): string | null {
    const typeName = this.#types.nameOf(parts);
    return this.write(scope, parts, typeName, typeName);
  }

  fieldsOf(typeName: string | null): readonly RequiredField[] {
    const known = this.#fields.get(typeName);
    if (known) return known;
    const collected = new Map<string, QueryPlanSelectionNode[] | null>();
    this.#collect(this.#nodes, typeName, collected);
    const fields = [...collected].map(([name, nodes], at) => ({
      name,
      start: `${at === 0 ? "{" : ","}"${name}":`,
      selection: nodes && new RequiredSelection(this.#types, nodes),
    }));
    this.#fields.set(typeName, fields);
    return fields;
  }

  #collect(
    nodes: readonly QueryPlanSelectionNode[],
    typeName: string | null,
    into: Map<string, QueryPlanSelectionNode[] | null>,
  ): void {
    for (const node of nodes) {
      if (node.kind === "Field") {
        const name = responseNameOf(node);
        into.set(name, node.selections ? [...(into.get(name) ?? []), ...node.selections] : null);
      } else if (!node.typeCondition || (typeName !== null && this.#types.isOf(typeName, node.typeCondition)))
        this.#collect(node.selections, typeName, into);
    }
  }
}

const responseNameOf = ({ alias, name }: QueryPlanFieldNode) => alias ?? name;

/** Reads a member from the first part that has it. */
function read(scope: PlanScope, parts: Parts, name: string): unknown {
  let found: unknown;
  for (const at of scope.placesOf(name)) {
    const value = memberOf(parts[at], name);
    if (value !== undefined && value !== null) return value;
    if (value === null) found = null;
  }
  return found;
}

function writeBelow(selection: RequiredSelection, scope: PlanScope, bases: Part[]): string {
  const list = listOf(bases);
  if (!list) return selection.writeObject(scope, scope.withLinks(bases)) ?? "null";
  const items: Part[] = [];
  const texts = list.map((_, at) => {
    readItems(bases, at, items);
    return writeBelow(selection, scope, items);
  });
  return `[${texts.join()}]`;
}
