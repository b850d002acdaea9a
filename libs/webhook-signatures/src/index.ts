export { createEndpointSecret, createSigningKey, deliveryHeaders } from "./delivery-headers.ts";
export { claimAt, type DeliveryIdPlace } from "./delivery-id-place.ts";
export type { HmacOptions } from "./hmac-scheme.ts";
export { type SchemeName, schemeOf } from "./schemes.ts";
export type { Claim, DeliveryIdentity, SignatureScheme, SignedRequest } from "./signature-scheme.ts";
