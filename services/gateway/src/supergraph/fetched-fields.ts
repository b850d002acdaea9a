import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from "graphql";
import { collectFields, collectSubfields } from "graphql/execution/collectFields.js";

/** A planned fetch from a subgraph. */
export interface Fetched {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

export type Path = readonly (string | number)[];

/** An object of a fetch, with the fields that request it. The operation itself has none. */
export interface FetchedObject {
  readonly path: Path;
  readonly type: GraphQLObjectType | GraphQLInterfaceType;
  readonly nodes: readonly FieldNode[];
}

type Fields = ReadonlyMap<string, readonly FieldNode[]>;

/** Returns the root objects of a fetch: the operation's root, or each of the requested entities. */
export function rootsOf(fetched: Fetched): FetchedObject[] {
  const { schema, variables } = fetched;
  const operation = operationOf(fetched);
  const [first] = operation.selectionSet.selections;
  if (first?.kind !== Kind.FIELD || first.name.value !== "_entities") {
    const type = schema.getRootType(operation.operation);
    return type ? [{ path: [], type, nodes: [] }] : [];
  }
  const representations = variables.representations as readonly { readonly __typename: string }[];
  return representations.flatMap(({ __typename: name }, at) => {
    const type = schema.getType(name);
    return isObjectType(type) || isInterfaceType(type) ? [{ path: ["_entities", at], type, nodes: [first] }] : [];
  });
}

/** Returns the requested fields of an object, by their names in the answer. */
export function fieldsOf(fetched: Fetched, { type, nodes }: FetchedObject): Fields {
  const { schema, document, variables } = fetched;
  const fragments = fragmentsOf(document);
  // graphql expects an object type; an interface matches its fragments in the same way.
  const runtimeType = type as GraphQLObjectType;
  return nodes.length > 0
    ? collectSubfields(schema, fragments, variables, runtimeType, nodes)
    : collectFields(schema, fragments, variables, runtimeType, operationOf(fetched).selectionSet);
}

const operationOf = ({ document }: Fetched) => getOperationAST(document) as OperationDefinitionNode;

function fragmentsOf({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
}
