import type { Loss } from "@signalbox/federation";
import {
  type FieldNode,
  type GraphQLFormattedError,
  type GraphQLLeafType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { type Fetched, type FetchedObject, fieldsOf, type Path, rootsOf } from "./fetched-fields.ts";
import { lossError } from "./loss.ts";

type Members = Record<string | number, unknown>;

/**
 * Nulls every value of an answer with a wrong type, and returns an error for each, and for each null of a non-null
 * type. A correct subgraph would have sent null with an error, so this is a fault.
 */
export function removeFlaws(fetched: Fetched, data: Members, loss: Loss): GraphQLFormattedError[] {
  const flaws: GraphQLFormattedError[] = [];
  for (const root of rootsOf(fetched)) {
    const [entities, at] = root.path;
    const found = entities === undefined ? data : (data[entities] as (Members | null)[] | null)?.[Number(at)];
    // An entity hidden by its owner is no fault: its references must accept its absence.
    if (entities !== undefined && found === null) continue;
    judgeMembers(found ?? {}, root);
  }
  return flaws;

  function judgeMembers(value: Members, object: FetchedObject): void {
    const declared = object.type.getFields();
    for (const [name, nodes] of fieldsOf(fetched, object)) {
      const type = declared[nodes[0]?.name.value ?? ""]?.type;
      if (type) judge(value, name, type, nodes, object.path);
    }
  }

  function judge(parent: Members, at: string | number, type: GraphQLOutputType, nodes: Nodes, above: Path): void {
    const value = parent[at];
    const path = [...above, at];
    const nullable = getNullableType(type);
    const isMissing = value === null || value === undefined;
    if (isMissing ? isNonNullType(type) : !hasForm(value, nullable)) {
      parent[at] = null;
      flaws.push(lossError(loss, path));
    } else if (isMissing || isLeafType(nullable)) return;
    else if (isListType(nullable)) {
      const items = value as Members & unknown[];
      for (const index of items.keys()) judge(items, index, nullable.ofType, nodes, path);
    } else judgeObject(value as Members, nullable, nodes, path);
  }

  function judgeObject(value: Members, type: GraphQLOutputType, nodes: Nodes, path: Path): void {
    const named = typeof value.__typename === "string" ? fetched.schema.getType(value.__typename) : type;
    if (isObjectType(named) || isInterfaceType(named)) judgeMembers(value, { path, type: named, nodes });
  }
}

type Nodes = readonly FieldNode[];

function hasForm(value: unknown, type: GraphQLOutputType): boolean {
  if (isListType(type)) return Array.isArray(value);
  if (isLeafType(type)) return isOfLeaf(value, type);
  return typeof value === "object" && !Array.isArray(value);
}

function isOfLeaf(value: unknown, type: GraphQLLeafType): boolean {
  if (isEnumType(type)) return typeof value === "string" && type.getValue(value) !== undefined;
  const fits = scalars[type.name];
  // Only the subgraphs know the form of a custom scalar.
  return fits === undefined || fits(value);
}

const int32Max = 2 ** 31 - 1;

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Float: (value) => typeof value === "number",
  Int: (value) => Number.isInteger(value) && Math.abs(value as number) <= int32Max + 1,
  ID: (value) => typeof value === "string" || Number.isInteger(value),
};
