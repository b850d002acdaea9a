export { createHealth, type ProcessHealth } from "./create-health.ts";
export { createRunner, type ProcessRunner } from "./create-runner.ts";
export { type CreateServiceContext, createServiceContext } from "./create-service-context.ts";
export type { Health, HealthCheck, HealthReason, HealthReport, Verdict } from "./health.ts";
export { knownPropertyNames } from "./known-property-names.ts";
export type { ManagedService } from "./management-env.ts";
export type { Management } from "./management-routes.ts";
export { type Listener, type OpenListener, openListener, ownPorts } from "./open-listener.ts";
export {
  createManagementListener,
  type OpenManagementServer,
  openManagementServer,
} from "./open-management-server.ts";
export { type RuntimeProperties, runtimeProperties } from "./properties.ts";
export { describeProcess, listenerLimits, managementAddress, type RunService, runService } from "./run-service.ts";
export { type RunUntilStopped, runUntilStopped } from "./run-until-stopped.ts";
export type { Pause, Runner, Turn, Work } from "./runner.ts";
export type {
  AuthorizeManagement,
  ManagementDecision,
  ServiceContext,
  ServiceParts,
  UpgradeListener,
} from "./service-context.ts";
export type { WorkerState } from "./supervise-worker.ts";
export { createWakeUp, type WakeUp } from "./wake-up.ts";
