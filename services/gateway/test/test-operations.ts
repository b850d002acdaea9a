import { MiB, systemClock } from "@signalbox/core";
import type { WorkLimits } from "@signalbox/http";
import { createLogger, createMetrics } from "@signalbox/runtime";
import type { RateLimiter } from "@signalbox/storage";
import { openDocuments } from "../src/documents/persisted-query-store.ts";
import type { DocumentRules } from "../src/operations/check-document.ts";
import type { CostLimits } from "../src/operations/cost-limits.ts";
import { createOperations } from "../src/operations/operations.ts";
import type { Supergraph } from "../src/supergraph/supergraph.ts";

interface Wanted {
  readonly supergraph: Omit<Supergraph, "prepare">;
  /** Default: every operation is free. */
  readonly costLimits?: CostLimits;
  readonly work?: WorkLimits;
  readonly limits?: () => Partial<DocumentRules>;
  readonly anonymousTokensMax?: number;
  readonly documentCacheBytesMax?: number;
  readonly deadlineMs?: number;
}

const free: CostLimits = {
  estimate: () => 0,
  refusal: () => null,
  charge() {},
  correct() {},
  admit() {},
  chargeRefused() {},
};

const unlimited: RateLimiter = {
  policy: { name: "unlimited", limit: 1, windowMs: 1 },
  take: () => ({ allowed: true, limit: 1, remaining: 1, resetSeconds: 1 }),
};
const unlimitedBudget = { bytes: unlimited, processorTime: unlimited };
/** Budgets that no caller uses up. */
export const unlimitedWork: WorkLimits = { credential: unlimitedBudget, anonymous: unlimitedBudget };

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
  work = unlimitedWork,
  limits = () => ({}),
  deadlineMs = 1_000,
  ...max
}: Wanted) {
  const log = createLogger({ service: "gateway", instance: "test", level: "error" });
  const metrics = createMetrics({ service: "gateway" });
  const operations = createOperations({
    supergraph,
    costLimits,
    work,
    documents: openDocuments("apq", null),
    anonymousTokensMax: () => max.anonymousTokensMax ?? usual.tokensMax,
    documentCacheBytesMax: max.documentCacheBytesMax ?? MiB,
    limits: () => ({ ...usual, ...limits() }),
    log,
    metrics,
    clock: systemClock,
    deadlineMs,
    responseBytesMax: () => MiB,
  });
  return { operations, log, metrics };
}
