export { followConfiguration } from "./follow-configuration.ts";
export { openAccess } from "./open-access.ts";
export { openDatabase } from "./open-database.ts";
export { openEdgeLimits } from "./open-edge-limits.ts";
export { openOutbox } from "./open-outbox.ts";
export { openServiceLog } from "./open-service-log.ts";
