export { createEndpointSecret, type DeliveryToSign, deliveryHeaders } from "./delivery-headers.ts";
export { createSigningKey } from "./ed25519-key.ts";
export { createHmacScheme, type HmacOptions, hmacDefaults } from "./hmac-scheme.ts";
export { type SchemeName, schemeNames, schemeOf } from "./schemes.ts";
export type {
  DeliveryIdentity,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
