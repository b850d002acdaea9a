import type { CheckedDocument, RequestMembers } from "@signalbox/http";
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from "graphql";
import { invalid } from "./check-document.ts";

/** Operation types that a transport supports. */
export type Carried = "queries" | "queries and mutations" | "queries and subscriptions" | "everything";

export type Chosen =
  | {
      readonly document: DocumentNode;
      readonly operation: OperationDefinitionNode;
      readonly variables: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 400 | 405;
      readonly refusal: readonly GraphQLFormattedError[];
      readonly operation: OperationDefinitionNode | null;
    };

/** Returns the selected operation, or its refusal. */
export function chooseOperation(
  checked: CheckedDocument,
  schema: GraphQLSchema,
  { operationName, variables }: Pick<RequestMembers, "operationName" | "variables">,
  carried: Carried,
): Chosen {
  if ("refusal" in checked) return { status: 400, refusal: checked.refusal, operation: null };
  const operation = getOperationAST(checked.document, operationName) ?? null;
  if (!operation) return refused(400, operation, [invalid("operationName does not select one operation.")]);
  const problem = problemOf(operation, carried);
  if (problem !== null) return refused(isOfGet(carried) ? 405 : 400, operation, [invalid(problem)]);
  const declared = operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, declared, variables ?? {}, { maxErrors: 20 });
  if (!errors) return { document: checked.document, operation, variables: coerced };
  return refused(
    400,
    operation,
    errors.map((error) => invalid(error.message, error)),
  );
}

const isOfGet = (carried: Carried): boolean => carried === "queries" || carried === "queries and subscriptions";

function problemOf({ operation }: OperationDefinitionNode, carried: Carried): string | null {
  if (carried === "everything" || operation === "query") return null;
  if (operation === "subscription")
    return carried === "queries and subscriptions" ? null : "Subscriptions need a persistent transport.";
  if (isOfGet(carried)) return "GET is for queries; send a mutation with POST.";
  return null;
}

function refused(status: 400 | 405, operation: OperationDefinitionNode | null, errors: readonly GraphQLError[]) {
  return { status, operation, refusal: errors.map((error) => error.toJSON()) };
}
