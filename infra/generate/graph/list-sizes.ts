import { type DefinitionNode, type FieldDefinitionNode, Kind, type TypeNode as TypeReference } from "graphql";
import { isTypeNode, readNode, type TypeNode } from "./nodes.ts";

/** The assumed length of a list of objects that is no page, unless the schema by hand has another `@listSize`. */
const usualSize = 5;
/** The buckets of statistics: a day by 15 minutes has 96. */
const bucketsSize = 50;

/**
 * Gives `@listSize` to each list of objects that is no page, so that the cost of an operation counts its items before
 * they are fetched (IBM's GraphQL Cost Directives specification). The items of a page are counted by `first`.
 */
export function withListSizes(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const objects = new Set(definitions.flatMap((node) => (isObject(node) ? [node.name.value] : [])));
  return definitions.map((node) => {
    if (!isObject(node) || !isTypeNode(node) || node.name.value.endsWith("Connection")) return node;
    return {
      ...node,
      fields: (node.fields ?? []).map((field) => (isListOf(objects, field) ? sized(node, field) : field)),
    };
  });
}

const isObject = (node: DefinitionNode) => node.kind === Kind.OBJECT_TYPE_DEFINITION;

function isListOf(objects: ReadonlySet<string>, { name, type }: FieldDefinitionNode): boolean {
  const list = nullable(type);
  if (list.kind !== Kind.LIST_TYPE || name.value === "errors") return false;
  const item = nullable(list.type);
  return item.kind === Kind.NAMED_TYPE && objects.has(item.name.value);
}

const nullable = (type: TypeReference) => (type.kind === Kind.NON_NULL_TYPE ? type.type : type);

function sized(parent: TypeNode, field: FieldDefinitionNode): FieldDefinitionNode {
  if (field.directives?.some(({ name }) => name.value === "listSize")) return field;
  const areBuckets = parent.name.value.endsWith("Statistics") && field.name.value === "items";
  const { directives = [] } = readNode(
    `type Sized @listSize(assumedSize: ${areBuckets ? bucketsSize : usualSize})`,
  ) as TypeNode;
  return { ...field, directives: [...(field.directives ?? []), ...directives] };
}
