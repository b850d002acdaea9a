export { createEndpointSecret, deliveryHeaders } from "./delivery-headers.ts";
export type { HmacOptions } from "./hmac-scheme.ts";
export { type SchemeName, schemeOf } from "./schemes.ts";
export type { DeliveryIdentity, SignedRequest } from "./signature-scheme.ts";
