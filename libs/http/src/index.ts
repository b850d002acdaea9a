export { createHttpApp, type HttpAppOptions } from "./app/create-http-app.ts";
export { createInternalApp, type InternalAppOptions } from "./app/create-internal-app.ts";
export type { ForbiddenRequest } from "./app/edge.ts";
export type { HttpContext } from "./app/http-context.ts";
export type { Mounts } from "./app/mounts.ts";
export { ExportPage, exportPathOf, exportRoutes } from "./export/export-routes.ts";
export type { Idempotency, IdempotencyClaim } from "./idempotency/idempotency.ts";
export {
  createIdempotencyStore,
  type IdempotencyStore,
  idempotencyRetention,
} from "./idempotency/idempotency-store.ts";
export type { IdempotencyOptions } from "./idempotency/keyed-request.ts";
export { sealedAnswers } from "./idempotency/stored-answer.ts";
export { httpMigrations } from "./library-migrations.ts";
export { policyItem, remainderItem } from "./limits/rate-limit-group.ts";
export { createRateLimits, type RateLimits } from "./limits/rate-limits.ts";
export { cursorOf, positionOf } from "./lists/cursor.ts";
export { listPage, type Page, pageOf, pageParameters, positionByCreation, rangeOf } from "./lists/page.ts";
export { mergeOpenApi, type OpenApiInfo, openApiDocument } from "./openapi/openapi-document.ts";
export { type HttpProperties, httpProperties } from "./properties.ts";
export { judge, onePerField } from "./request/body-problems.ts";
export { addressBucket, type ClientAddress, createClientAddress } from "./request/client-address.ts";
export { parseJsonBody } from "./request/json-body.ts";
export { findJsonFlaw } from "./request/json-scan.ts";
export { booleanParameter, integerParameter, timeParameter } from "./request/parameters.ts";
export { queryTextOf } from "./request/query.ts";
export { bodyTooSlow, readBody } from "./request/read-body.ts";
export { textFlaws } from "./request/text-flaws.ts";
export { ifMatch, isNotModified } from "./responses/conditional.ts";
export { ErrorBody } from "./responses/error-body.ts";
export { refusedWith, statusOf } from "./responses/error-status.ts";
export { strongEtag } from "./responses/etag.ts";
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
export { type RouteAccess, routeAccess } from "./routes/route-access.ts";
export type {
  BodySpec,
  ByteLimit,
  ErrorStyle,
  Method,
  ResponseSpec,
  Route,
  RouteAuth,
  RouteCreate,
  RouteInput,
  RouteSpec,
  RouteWrite,
} from "./routes/route-spec.ts";
export { idempotencyKeyOf, requestFingerprint } from "./steps/begin-idempotency.ts";
