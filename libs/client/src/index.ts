export { ApiError, dataOf, idempotencyKey } from "./answers.ts";
export type { CallOptions } from "./call.ts";
export { type Client, type ClientOptions, type Credential, createClient, type Workflows } from "./client.ts";
export type { FollowOptions } from "./event-stream.ts";
export type * from "./generated/resources.ts";
export { ImageFailedError, type ImageSource, type UploadOptions } from "./images.ts";
export {
  type ConfigChange,
  type SubscribeOptions,
  SubscriptionError,
  type SubscriptionMessage,
} from "./live.ts";
export type { MessageOptions, PulledMessage } from "./messages.ts";
export type { Page, Pages } from "./pages.ts";
export { etagOf } from "./resources.ts";
export type { RetryPolicy } from "./retry-backoff.ts";
