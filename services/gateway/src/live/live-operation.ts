import { createHash } from "node:crypto";
import { type SubscriptionDeclaration, subscriptions } from "@signalbox/contracts";
import {
  execute,
  type FieldNode,
  type FormattedExecutionResult,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
} from "graphql";
import { collectFields, collectSubfields } from "graphql/execution/collectFields.js";
import { graphError } from "../documents/graph-error.ts";
import { fragmentsOf } from "../operations/operation-cost.ts";
import type { PreparedOperation } from "../operations/prepare-operation.ts";
import type { RunnableOperation } from "../supergraph/supergraph.ts";
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

/** A query of the entity of an event, whose id is the value of a variable that the client does not have. */
interface EntityQuery extends RunnableOperation {
  readonly idVariable: string;
}

/** Splits a subscription into its parts. Validation guarantees one root field. */
export function liveOperationOf(schema: GraphQLSchema, prepared: PreparedOperation): LiveOperation {
  const { document, operation, variables } = prepared;
  const root = schema.getSubscriptionType() as GraphQLObjectType;
  const fragments = Object.fromEntries(fragmentsOf(document));
  const [[name, nodes] = ["", []]] = collectFields(schema, fragments, variables, root, operation.selectionSet);
  const [node] = nodes as readonly FieldNode[];
  const field = root.getFields()[node?.name.value ?? ""];
  if (!node || !field) throw graphError("VALIDATION_FAILED", "The field of a subscription cannot be skipped.");
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
    shape: (...event) => shaped(schema, prepared, declaration, [field.name, name], event),
  };
}

/** Builds `query ($entityId: ID!) { name: node(id: $entityId) { … } }`, with the client's own variables. */
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
  const declared = operation.variableDefinitions ?? [];
  const taken = new Set(declared.map(({ variable }) => variable.name.value));
  let idVariable = "entityId";
  while (taken.has(idVariable)) idVariable += "_";
  const fields = wanted.map(([name, nodes]) => {
    const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []).map(print);
    return `${name}: node(id: $${idVariable}) { ... on ${type} { ${selections.join(" ")} } }`;
  });
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map(print);
  const query = `query (${[...declared.map(print), `$${idVariable}: ID!`].join()}) { ${fields.join(" ")} } ${fragments.join(" ")}`;
  const whole = parse(query, { noLocation: true });
  const [own] = whole.definitions as readonly [OperationDefinitionNode];
  return { query, document: whole, operation: own, variables, idVariable };
}

/** Builds the payload of an event in the form of the root field, which has a name of its own in the answer. */
function shaped(
  schema: GraphQLSchema,
  { document, operation, variables }: PreparedOperation,
  declaration: SubscriptionDeclaration,
  [field, name]: readonly [string, string],
  [{ event }, cursor, entity]: Parameters<LiveOperation["shape"]>,
): FormattedExecutionResult {
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
