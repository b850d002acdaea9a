export { createInternalClient, type InternalAnswer, type InternalClient, sendTwice } from "./internal-client.ts";
export { createNameLookup } from "./name-lookup.ts";
export { createOutboundClient, type OutboundClient } from "./outbound-client.ts";
export { isOutboundError, isProxyError, OutboundError, shownFailure } from "./outbound-error.ts";
