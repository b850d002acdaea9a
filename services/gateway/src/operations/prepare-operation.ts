import { createDocumentCache } from "@signalbox/graphql";
import type { DocumentNode } from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Supergraph } from "../supergraph/supergraph.ts";
import { checkDocument, type DocumentRules, moreTokens } from "./check-document.ts";
import { type Carried, type Chosen, chooseOperation } from "./choose-operation.ts";
import type { Charged, CostLimits } from "./cost-limits.ts";
import { countTokens } from "./document-scan.ts";

export interface PreparationDependencies {
  readonly supergraph: Pick<Supergraph, "schema">;
  readonly documents: Documents;
  readonly limits: () => DocumentRules;
  /** Largest number of tokens of a caller without a credential. */
  readonly anonymousTokensMax: () => number;
  readonly documentCacheBytesMax: number;
  readonly costLimits: CostLimits;
}

export type Prepared = Exclude<Chosen, { document: DocumentNode }> | PreparedOperation;

/** A runnable operation, with the text of its document and its estimated cost. */
export interface PreparedOperation extends Extract<Chosen, { document: DocumentNode }> {
  readonly query: string;
  readonly estimated: number;
}

/** Finds the operation of a request: its document parsed, limited, validated and judged by its cost. */
export function createPreparation(dependencies: PreparationDependencies) {
  const { supergraph, documents, limits, anonymousTokensMax, documentCacheBytesMax, costLimits } = dependencies;
  const checked = createDocumentCache({
    bytesMax: documentCacheBytesMax,
    limits: () => ({ ...limits(), schema: supergraph.schema }),
    check: (query, { schema, ...rules }) => checkDocument(schema, query, rules),
  });

  /**
   * Finds the operation of a request, without running it and without a charge; the caller is null for a request that
   * was admitted before. @throws AppError `rate_limited` when the caller's cost limit is used up
   */
  function find(request: OperationRequest, carried: Carried, caller: Charged | null): Prepared {
    if (caller) costLimits.admit(caller);
    const found = documents.find(request);
    if ("refusal" in found) return { status: 400, refusal: [found.refusal.toJSON()], operation: null };
    const tokensMax = anonymousTokensMax();
    if (caller?.principal === null && countTokens(found.text, tokensMax + 1) > tokensMax) {
      const refusal = moreTokens(tokensMax, " Callers with a credential may send longer ones.");
      return { status: 400, refusal: [refusal.toJSON()], operation: null };
    }
    const chosen = chooseOperation(checked(found.text), supergraph.schema, request, carried);
    if ("refusal" in chosen) return chosen;
    documents.remember(request);
    const estimated = costLimits.estimate({ schema: supergraph.schema, ...chosen });
    return { ...chosen, query: found.text, estimated };
  }

  /** Finds the operation of a request, and charges its refusal. @throws AppError `rate_limited` */
  function prepare(request: OperationRequest, carried: Carried, caller: Charged): Prepared {
    const prepared = find(request, carried, caller);
    if ("refusal" in prepared) chargeRefused(request, caller);
    return prepared;
  }

  function chargeRefused(request: OperationRequest, caller: Charged): void {
    const found = documents.find(request);
    costLimits.chargeRefused(caller, "text" in found ? found.text : (request.query ?? ""));
  }

  return { find, prepare };
}
