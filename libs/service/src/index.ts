export {
  type Actor,
  type AuditChange,
  type AuditEntryData,
  actorOf,
  audited,
  entryOfChange,
  entryOfRefusal,
  type Refusal,
  systemActor,
} from "./audit/audit-entry.ts";
export { type AuditedRead, createAuditReads } from "./audit/audit-reads.ts";
export { type AuditRefusals, createAuditRefusals, refusalOf } from "./audit/audit-refusals.ts";
export { ageSeconds } from "./canary/canary-age.ts";
export { startCanary } from "./canary/start-canary.ts";
export { followServiceClock } from "./clock/clock-sync.ts";
export { type Flags, flagContextOf } from "./feature-flags.ts";
export type { FlagContext, FlagEvaluation } from "./flags/flag-context.ts";
export { flagProblems } from "./flags/flag-problems.ts";
export { FlagSet } from "./flags/flag-set.ts";
export { followConfiguration } from "./follow-configuration.ts";
export { imageJobMetrics } from "./image-job-metrics.ts";
export { openAccess, openPrincipals } from "./open-access.ts";
export { libraryMigrations, openDatabase } from "./open-database.ts";
export { type EdgeLimits, openEdgeLimits } from "./open-edge-limits.ts";
export { type OpenedService, openService, pageLimitsOf } from "./open-service.ts";
export { openServiceLog } from "./open-service-log.ts";
export { operatingAuth, operatingBase, operatorOf } from "./operating/operating.ts";
export { declaredBy } from "./operations/declared.ts";
export { type Edges, edgesOf, joinEdges, list, listBelow, operation, record } from "./operations/edges.ts";
export { keysOf } from "./operations/graph-edge.ts";
export { type AnyOperation, type Complete, conflict, type Flow, type OwnRow, tooMany } from "./operations/operation.ts";
export { type Load, ownRows } from "./operations/reads.ts";
export { runFlow } from "./operations/rest-edge.ts";
export { statistics } from "./operations/statistics.ts";
export { openOverrides } from "./overrides/open-overrides.ts";
export { createOverrideCopy } from "./overrides/override-copy.ts";
export type { SharedParts } from "./shared-parts.ts";
export { type FreshEntry, freshBatch } from "./statistics/fresh-figures.ts";
export { CountedStatistics, keepStatistics } from "./statistics/keep-statistics.ts";
export { createStatistics, type Statistics } from "./statistics/statistics.ts";
export { defineStatistics } from "./statistics/statistics-kind.ts";
export {
  aboutOf,
  cutSteps,
  eventsAbout,
  expiredReason,
  hasPrefix,
  leftOut,
  linkTo,
  stepsOf,
  stepsOfReplay,
  unmarked,
  type WhyFinder,
  whyPathOf,
} from "./why/why-routes.ts";
