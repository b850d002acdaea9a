export type { Health, HealthCheck, HealthReason, HealthReport, Verdict } from "./health.ts";
export { type Listener, type OpenListener, openListener } from "./open-listener.ts";
export { type RuntimeProperties, runtimeProperties } from "./properties.ts";
export { type RunService, runService } from "./run-service.ts";
export type { Runner, Work } from "./runner.ts";
export type {
  AuthorizeManagement,
  ManagementDecision,
  ServiceContext,
  ServiceParts,
  UpgradeListener,
} from "./service-context.ts";
