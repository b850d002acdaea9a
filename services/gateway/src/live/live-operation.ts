import { createHash } from "node:crypto";
import { type SubscriptionDeclaration, subscriptions } from "@signalbox/contracts";
import {
  type DocumentNode,
  execute,
  type FieldNode,
  type FormattedExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
} from "graphql";
import { collectFields, collectSubfields } from "graphql/execution/collectFields.js";
import type { PreparedOperation } from "../operations/prepare-operation.ts";
import { liveError } from "./live-error.ts";
import type { LiveEvent } from "./live-event.ts";

/** A requested subscription: its events, and the query that completes them. */
export interface LiveOperation {
  readonly declaration: SubscriptionDeclaration;
  /** The id of the resource to which it is restricted. */
  readonly onlyId: string | null;
  /** Equal for equal subscriptions. */
  readonly key: string;
  /** The client's query of the entity; null when it requests nothing of it. */
  readonly entityQuery: EntityQuery | null;
  /** Builds the requested form of an event's payload. */
  shape(one: LiveEvent, cursor: string, entity: FormattedExecutionResult | null): FormattedExecutionResult;
}

/** An operation `query ($signalboxEntity: ID!) { name: node(id: $signalboxEntity) { … } }`, with the client's own variables. */
export interface EntityQuery {
  readonly query: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationName: undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

export const entityVariable = "signalboxEntity";

/** Splits a subscription into its parts. Validation guarantees one root field. */
export function liveOperationOf(schema: GraphQLSchema, prepared: PreparedOperation): LiveOperation {
  const { document, operation, variables } = prepared;
  const root = schema.getSubscriptionType() as GraphQLObjectType;
  const fragments = fragmentsIn(document);
  const [[name, nodes] = ["", []]] = collectFields(schema, fragments, variables, root, operation.selectionSet);
  const [node] = nodes as readonly FieldNode[];
  const field = root.getFields()[node?.name.value ?? ""];
  if (!node || !field) throw liveError("VALIDATION_FAILED", "The field of a subscription cannot be skipped.");
  const declaration = subscriptions[field.name as keyof typeof subscriptions] as SubscriptionDeclaration;
  const { argument = "" } = declaration.only ?? {};
  const given = getArgumentValues(field, node, variables)[argument];
  const payload = getNamedType(field.type) as GraphQLObjectType;
  const asked = collectSubfields(schema, fragments, variables, payload, nodes as FieldNode[]);
  return {
    declaration,
    onlyId: typeof given === "string" ? given : null,
    key: createHash("sha256")
      .update(JSON.stringify([prepared.query, operation.name?.value, variables]))
      .digest("base64url"),
    entityQuery: entityQueryOf(prepared, payload, declaration, asked),
    shape: (one, cursor, entity) =>
      shaped({ schema, prepared, declaration, field: field.name, name }, one, cursor, entity),
  };
}

function entityQueryOf(
  { document, operation, variables }: PreparedOperation,
  payload: GraphQLObjectType,
  { entity }: SubscriptionDeclaration,
  asked: ReadonlyMap<string, readonly FieldNode[]>,
): EntityQuery | null {
  const wanted = [...asked].filter(([, [node]]) => node?.name.value === entity);
  const field = payload.getFields()[entity ?? ""];
  if (!field || wanted.length === 0) return null;
  const type = getNamedType(field.type).name;
  const own: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: "query" as OperationDefinitionNode["operation"],
    variableDefinitions: [...(operation.variableDefinitions ?? []), ...entityVariableDefinition],
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: wanted.map(([name, nodes]) => nodeField(name, type, nodes)),
    },
  };
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [own, ...fragments] };
  return { query: print(whole), document: whole, operation: own, operationName: undefined, variables };
}

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;
const variableNode = { kind: Kind.VARIABLE, name: nameNode(entityVariable) } as const;
const entityVariableDefinition = [
  {
    kind: Kind.VARIABLE_DEFINITION,
    variable: variableNode,
    type: { kind: Kind.NON_NULL_TYPE, type: { kind: Kind.NAMED_TYPE, name: nameNode("ID") } },
  },
] as const;

function nodeField(name: string, type: string, nodes: readonly FieldNode[]): SelectionNode {
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
  const ofType = {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(type) },
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  } as const;
  return {
    kind: Kind.FIELD,
    alias: nameNode(name),
    name: nameNode("node"),
    arguments: [{ kind: Kind.ARGUMENT, name: nameNode("id"), value: variableNode }],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [ofType] },
  };
}

interface Shaping {
  readonly schema: GraphQLSchema;
  readonly prepared: PreparedOperation;
  readonly declaration: SubscriptionDeclaration;
  /** The root field, and its name in the answer. */
  readonly field: string;
  readonly name: string;
}

function shaped(
  { schema, prepared, declaration, field, name }: Shaping,
  { event }: LiveEvent,
  cursor: string,
  entity: FormattedExecutionResult | null,
): FormattedExecutionResult {
  const { document, operation, variables } = prepared;
  const members = declaration.payloadOf({ name: event.name, data: event.data });
  const eventMembers = { id: event.id, type: event.name, occurredAt: event.time.toISOString() };
  const payload = { ...members, event: eventMembers, cursor };
  const rootValue = { [field]: payload };
  const { data } = execute({
    schema,
    document,
    operationName: operation.name?.value,
    variableValues: variables,
    rootValue,
    // Fetched values already have the client's names, and those of the event have the schema's.
    fieldResolver: (source, _arguments, _context, { fieldName, path }) => {
      if (source === payload && fieldName === declaration.entity) return entity?.data?.[path.key] ?? null;
      return source === rootValue || source === payload || source === eventMembers
        ? source[fieldName]
        : source[path.key];
    },
  }) as FormattedExecutionResult;
  const errors = (entity?.errors ?? []).map((error) =>
    error.path ? { ...error, path: [name, ...error.path] } : error,
  );
  return errors.length > 0 ? { data: data ?? null, errors } : { data: data ?? null };
}

function fragmentsIn({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
}
