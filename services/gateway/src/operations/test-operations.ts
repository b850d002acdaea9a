import { MiB, systemClock } from "@signalbox/core";
import { createLogger, createMetrics } from "@signalbox/telemetry";
import { openDocuments } from "../documents/documents.ts";
import type { Supergraph } from "../supergraph/supergraph.ts";
import type { DocumentRules } from "./check-document.ts";
import type { CostLimits } from "./cost-limits.ts";
import { createOperations } from "./operations.ts";
import { createPreparation } from "./prepare-operation.ts";

interface Wanted {
  readonly supergraph: Omit<Supergraph, "prepare">;
  /** Default: every operation is free. */
  readonly costLimits?: CostLimits;
  readonly limits?: () => Partial<DocumentRules>;
  readonly anonymousTokensMax?: number;
  readonly documentCacheBytesMax?: number;
  readonly deadlineMs?: number;
}

const free: CostLimits = { estimate: () => 0, refusal: () => null, charge() {}, admit() {}, chargeRefused() {} };

const usual: DocumentRules = {
  depthMax: 16,
  aliasesMax: 30,
  rootFieldsMax: 20,
  directivesMax: 50,
  tokensMax: 4_000,
  introspection: true,
};

/** Creates operations over a supergraph of the test, with the usual limits unless it wants others. */
export function testOperations({
  supergraph,
  costLimits = free,
  limits = () => ({}),
  deadlineMs = 1_000,
  ...max
}: Wanted) {
  const log = createLogger({ service: "gateway", instance: "test", level: "error" });
  const metrics = createMetrics({ service: "gateway" });
  const preparation = createPreparation({
    supergraph,
    costLimits,
    documents: openDocuments("apq", null),
    anonymousTokensMax: () => max.anonymousTokensMax ?? usual.tokensMax,
    documentCacheBytesMax: max.documentCacheBytesMax ?? MiB,
    limits: () => ({ ...usual, ...limits() }),
  });
  const responseBytesMax = () => MiB;
  const running = { log, metrics, clock: systemClock, deadlineMs, responseBytesMax };
  return { operations: createOperations({ preparation, supergraph, costLimits, ...running }), log, metrics };
}
