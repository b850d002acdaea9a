import { threadProcessorMs } from "@signalbox/core";
import { admitWork, chargeProcessorTime, createDocumentCache, type WorkLimits } from "@signalbox/http";
import type { DocumentNode, GraphQLError } from "graphql";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Documents } from "../documents/persisted-query-store.ts";
import type { Supergraph } from "../supergraph/supergraph.ts";
import { checkDocument, type DocumentRules, moreTokens, withoutSuggestions } from "./check-document.ts";
import { type Carried, type Chosen, chooseOperation } from "./choose-operation.ts";
import type { Charged, CostLimits } from "./cost-limits.ts";
import { hasMoreTokens } from "./document-scan.ts";

interface PreparationDependencies {
  readonly supergraph: Pick<Supergraph, "schema">;
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
export type Prepared = (Exclude<Chosen, { document: DocumentNode }> & { readonly query: string }) | PreparedOperation;

/** A runnable operation, with the text of its document and its estimated cost. */
export interface PreparedOperation extends Extract<Chosen, { document: DocumentNode }> {
  readonly query: string;
  readonly estimated: number;
}

export type Preparation = ReturnType<typeof createPreparation>;

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
    const estimated = costLimits.estimate({ schema: supergraph.schema, ...chosen });
    return { ...chosen, query, estimated };
  }

  /** Finds the operation of a request, and charges its refusal. @throws AppError `rate_limited` */
  function prepare(request: OperationRequest, carried: Carried, caller: Charged): Prepared {
    const prepared = find(request, carried, caller);
    if ("refusal" in prepared) costLimits.chargeRefused(caller, prepared.query);
    return prepared;
  }

  return { find, prepare };
}

const refusedWith = (refusal: GraphQLError, query: string): Prepared => ({
  status: 400,
  refusal: [refusal.toJSON()],
  operation: null,
  query,
});
