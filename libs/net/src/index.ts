export { type AllowEntry, parseAllowEntry } from "./allow-entry.ts";
export type { Resolve } from "./guarded-connector.ts";
export {
  createInternalClient,
  type InternalAnswer,
  type InternalClient,
  type InternalClientOptions,
} from "./internal-client.ts";
export { nonPublicRange } from "./non-public-address.ts";
export {
  createOutboundClient,
  type OutboundClient,
  type OutboundRequest,
  type OutboundResponse,
} from "./outbound-client.ts";
export { isOutboundError, OutboundError, type OutboundPhase, type OutboundStage } from "./outbound-error.ts";
export { checkTarget, type TargetProblem } from "./target-policy.ts";
