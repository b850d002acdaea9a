export { createHttpApp, type HttpAppOptions } from "./app/create-http-app.ts";
export { createInternalApp, type InternalAppOptions } from "./app/create-internal-app.ts";
export type { ForbiddenRequest } from "./app/edge.ts";
export type { Mounts } from "./app/mounts.ts";
export { ExportPage, exportPathOf, exportRoutes } from "./export/export-routes.ts";
export type { Idempotency, IdempotencyClaim, IdempotencyOptions } from "./idempotency/idempotency.ts";
export {
  createIdempotencyStore,
  httpMigrations,
  type IdempotencyStore,
  idempotencyRetention,
} from "./idempotency/idempotency-store.ts";
export { sealedAnswers } from "./idempotency/stored-answer.ts";
export { createRateLimits, policyItem, type RateLimits, remainderItem } from "./limits/rate-limits.ts";
export {
  cursorOf,
  listPage,
  type Page,
  pageOf,
  pageParameters,
  positionByCreation,
  positionOf,
  rangeOf,
} from "./lists/page.ts";
export { mergeOpenApi, type OpenApiInfo, openApiDocument } from "./openapi/openapi-document.ts";
export { type HttpContext, httpProperties } from "./properties.ts";
export { judge, onePerField } from "./request/body-problems.ts";
export { addressBucket, type ClientAddress, createClientAddress } from "./request/client-address.ts";
export { findJsonFlaw, parseJsonBody } from "./request/json-body.ts";
export { booleanParameter, integerParameter, timeParameter } from "./request/parameters.ts";
export { queryTextOf } from "./request/query.ts";
export { bodyTooSlow, readBody } from "./request/read-body.ts";
export { textFlaws } from "./request/text-flaws.ts";
export { ifMatch, isNotModified, strongEtag } from "./responses/conditional.ts";
export { ErrorBody, refusedWith, statusOf } from "./responses/error-response.ts";
export {
  accepted,
  bytes,
  created,
  defaultMessages,
  type HttpResponse,
  keptOpen,
  noContent,
  notModified,
  ok,
  type Refusal,
  type ResponseOptions,
  refused,
  stream,
} from "./responses/http-response.ts";
export { acceptedLanguages } from "./responses/negotiation.ts";
export { createRoutes, type Routes } from "./routes/create-routes.ts";
export {
  type BodySpec,
  type ByteLimit,
  type ErrorStyle,
  type Method,
  type ResponseSpec,
  type Route,
  type RouteAccess,
  type RouteAuth,
  type RouteCreate,
  type RouteInput,
  type RouteSpec,
  type RouteWrite,
  routeAccess,
} from "./routes/route-spec.ts";
export { idempotencyKeyOf, requestFingerprint } from "./steps/begin-idempotency.ts";
