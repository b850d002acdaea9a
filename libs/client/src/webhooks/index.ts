export type { DeliveryHeaders } from "./signed-delivery.ts";
export { type KeySet, type KeySource, keysOfAccount, type Secret } from "./verification-keys.ts";
export { type RawBody, type VerifiedDelivery, type VerifyOptions, verify, verifySignature } from "./verify.ts";
export type { BuiltInEvents, UndeclaredEvent, WebhookEvent } from "./webhook-event.ts";
export { type WebhookProblem, WebhookVerificationError } from "./webhook-verification-error.ts";
