export type { KnownPreset, Preset } from "./presets/preset.ts";
export { type PresetName, presets } from "./presets/presets.ts";
export { createEndpointSecret, createSigningKey, deliveryHeaders } from "./schemes/delivery-headers.ts";
export { claimAt, type DeliveryIdPlace } from "./schemes/delivery-id-place.ts";
export {
  answerChallenge,
  answerHandshakeRequest,
  type HandshakeAnswer,
  type HandshakeRequest,
} from "./schemes/handshakes.ts";
export { readMultipart } from "./schemes/multipart-form.ts";
export { parseExactly } from "./schemes/parse-exactly.ts";
export { describeRepetitions, sameContentSecondsOf, weightOfId } from "./schemes/repetitions.ts";
export {
  guessScheme,
  identityPlaces,
  type SchemeName,
  type SchemeOptions,
  schemeDefaults,
  schemeOf,
} from "./schemes/schemes.ts";
export {
  type Claim,
  handshakes,
  type SignatureScheme,
  type SignedRequest,
} from "./schemes/signature-scheme.ts";
export { leavesBodyOpen, parseSignedContent } from "./schemes/signed-content.ts";
