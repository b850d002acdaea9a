export { followConfiguration } from "./follow-configuration.ts";
export { openAccess, openPrincipals, openStates } from "./open-access.ts";
export { openDatabase } from "./open-database.ts";
export { openEdgeLimits } from "./open-edge-limits.ts";
export { openOutbox } from "./open-outbox.ts";
export { type Overrides, openOverrides } from "./open-overrides.ts";
export { type Doors, type OpenedService, openService } from "./open-service.ts";
export { openServiceLog } from "./open-service-log.ts";
export type { SharedParts } from "./shared-parts.ts";
