export { createInternalClient, type InternalAnswer, type InternalClient, sendTwice } from "./internal-client.ts";
export { openOutboundClient } from "./open-outbound-client.ts";
export { createOutboundClient, type OutboundClient } from "./outbound-client.ts";
export { isOutboundError, isProxyError, OutboundError, shownFailure } from "./outbound-error.ts";
