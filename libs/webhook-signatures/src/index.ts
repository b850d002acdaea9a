export { createEndpointSecret, createSigningKey, deliveryHeaders } from "./delivery-headers.ts";
export { claimAt, type DeliveryIdPlace } from "./delivery-id-place.ts";
export { answerChallenge, answerHandshakeRequest, type HandshakeAnswer, type HandshakeRequest } from "./handshakes.ts";
export type { Preset } from "./presets/preset.ts";
export { type PresetName, presets } from "./presets/presets.ts";
export {
  guessScheme,
  identityPlaces,
  type SchemeName,
  type SchemeOptions,
  schemeDefaults,
  schemeOf,
} from "./schemes.ts";
export {
  type Claim,
  type DeliveryIdentity,
  handshakes,
  type SignatureScheme,
  type SignedRequest,
} from "./signature-scheme.ts";
export { leavesBodyOpen, parseSignedContent } from "./signed-content.ts";
