import { threadProcessorMs } from "@signalbox/core";
import {
  admitWork,
  type CheckedDocument,
  chargeProcessorTime,
  createDocumentCache,
  type WorkLimits,
} from "@signalbox/http";
import {
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from "graphql";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Documents } from "../documents/persisted-query-store.ts";
import { checkDocument, type DocumentRules, invalid, moreTokens, withoutSuggestions } from "./check-document.ts";
import type { Charged, ChosenOperation, CostLimits } from "./cost-limits.ts";
import { hasMoreTokens } from "./document-scan.ts";

export interface PreparationDependencies {
  readonly supergraph: { readonly schema: GraphQLSchema };
  readonly documents: Documents;
  readonly limits: () => DocumentRules;
  /** Largest number of tokens of a caller without a credential. */
  readonly anonymousTokensMax: () => number;
  readonly documentCacheBytesMax: number;
  readonly costLimits: CostLimits;
  /** What callers may spend on checks. */
  readonly work: WorkLimits;
}

/** A refused or runnable operation, with the text of its document. */
export type Prepared = (RefusedOperation & { readonly query: string }) | PreparedOperation;

/** A runnable operation, with the text of its document and its estimated cost. */
export interface PreparedOperation extends ChosenOperation {
  readonly query: string;
  readonly estimated: number;
}

/** Finds the operation of a request: its document parsed, limited, validated and judged by its cost. */
export function createPreparation(dependencies: PreparationDependencies) {
  const { supergraph, documents, limits, anonymousTokensMax, documentCacheBytesMax, costLimits, work } = dependencies;
  const checked = createDocumentCache({
    bytesMax: documentCacheBytesMax,
    limits: () => ({ ...limits(), schema: supergraph.schema }),
    check: (query, { schema, ...rules }) => checkDocument(schema, query, rules),
  });

  /**
   * Finds the operation of a request, without running it and without a charge of its cost; the caller is null for a
   * request that was admitted before. @throws AppError `rate_limited` when one of the caller's limits is used up
   */
  function find(request: OperationRequest, carried: Carried, caller: Charged | null): Prepared {
    if (!caller) return findFree(request, carried, caller);
    costLimits.admit(caller);
    admitWork(work, caller);
    const startedMs = threadProcessorMs();
    try {
      return findFree(request, carried, caller);
    } finally {
      chargeProcessorTime(work, caller, threadProcessorMs() - startedMs);
    }
  }

  function findFree(request: OperationRequest, carried: Carried, caller: Charged | null): Prepared {
    const found = documents.find(request);
    if ("refusal" in found) return refusedWith(found.refusal, request.query ?? "");
    const { text: query } = found;
    const tokensMax = anonymousTokensMax();
    if (caller?.principal === null && hasMoreTokens(query, tokensMax))
      return refusedWith(moreTokens(tokensMax, " Callers with a credential may send longer ones."), query);
    const chosen = chooseOperation(checked(query), supergraph.schema, request, carried);
    if ("refusal" in chosen) {
      const refusal = limits().introspection ? chosen.refusal : withoutSuggestions(chosen.refusal);
      return { ...chosen, refusal, query };
    }
    documents.remember(request);
    return { ...chosen, query, estimated: costLimits.estimate(supergraph.schema, chosen) };
  }

  /** Finds the operation of a request, and charges its refusal. @throws AppError `rate_limited` */
  function prepare(request: OperationRequest, carried: Carried, caller: Charged): Prepared {
    const prepared = find(request, carried, caller);
    if ("refusal" in prepared) costLimits.chargeRefused(caller, prepared.query);
    return prepared;
  }

  return { find, prepare };
}

const refusedWith = (error: GraphQLError, query: string): Prepared => ({ ...refused(400, null, [error]), query });

/** Operation types that a transport supports. */
export type Carried = "queries" | "queries and mutations" | "queries and subscriptions" | "everything";

interface RefusedOperation {
  readonly status: 400 | 405;
  readonly refusal: readonly GraphQLFormattedError[];
  readonly operation: OperationDefinitionNode | null;
}

/** Returns the selected operation, or its refusal. */
function chooseOperation(
  checked: CheckedDocument,
  schema: GraphQLSchema,
  { operationName, variables }: OperationRequest,
  carried: Carried,
): ChosenOperation | RefusedOperation {
  if ("refusal" in checked) return { status: 400, refusal: checked.refusal, operation: null };
  const operation = getOperationAST(checked.document, operationName) ?? null;
  if (!operation) return refused(400, operation, [invalid("operationName does not select one operation.")]);
  const problem = problemOf(operation, carried);
  if (problem !== null) return refused(isOfGet(carried) ? 405 : 400, operation, [invalid(problem)]);
  const declared = operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, declared, variables ?? {}, { maxErrors: 20 });
  if (!errors) return { document: checked.document, operation, variables: coerced };
  const invalidVariables = errors.map((error) => invalid(error.message, error));
  return refused(400, operation, invalidVariables);
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
