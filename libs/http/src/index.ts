export { createHttpApp, type HttpAppOptions } from "./app/create-http-app.ts";
export { createInternalApp } from "./app/create-internal-app.ts";
export type { Mounts } from "./app/mounts.ts";
export { allMembersMayBeLeftOut } from "./exchange/compile-body.ts";
export {
  type ForbiddenRequest,
  type RefusedRequest,
  resourceMetadataOf,
  resourceMetadataPrefix,
} from "./exchange/edge.ts";
export { ExportPage, exportPathOf, exportRoutes } from "./export/export-routes.ts";
export { takeAccessChanges } from "./graphql/access-changes.ts";
export {
  type ConnectionSpec,
  connectionArguments,
  connectionField,
  type PageLimits,
} from "./graphql/connection-field.ts";
export { type CheckedDocument, createDocumentCache, validateDocument } from "./graphql/document-cache.ts";
export { type FieldAccess, field, isDeclared, type Resolve } from "./graphql/field.ts";
export { replayedExtension } from "./graphql/keyed-mutation.ts";
export { createLoader, createPerRequest, type Load, requestLoader } from "./graphql/loader.ts";
export { filterFrom, mutation, refusalError, toWire } from "./graphql/mutation.ts";
export {
  clientAddressHeader,
  encodeOperationKey,
  encodePrincipal,
  forwardedCaller,
  operationKeyHeader,
  principalHeader,
} from "./graphql/principal-header.ts";
export { type RequestMembers, requestMembersFrom } from "./graphql/read-request.ts";
export { createSubgraph, type Resolvers, type SubgraphOptions } from "./graphql/subgraph.ts";
export type { SubgraphContext } from "./graphql/subgraph-context.ts";
export { createIdempotencyStore, httpMigrations } from "./idempotency/idempotency-store.ts";
export { createRateLimits, policyItem, type RateLimits, remainderItem } from "./limits/rate-limits.ts";
export { admitWork, chargeProcessorTime, turnOf, type WorkLimits } from "./limits/work-limits.ts";
export {
  cursorMark,
  invalidCursor,
  listPage,
  numberAt,
  pageOf,
  pageParameters,
  positionByCreation,
  rangeOf,
} from "./lists/pagination.ts";
export { mergeOpenApi, openApiDocument } from "./openapi/openapi-document.ts";
export { type Judgement, judge } from "./request/body-problems.ts";
export { addressBucket, type ClientAddress, createClientAddress } from "./request/client-address.ts";
export { httpProperties } from "./request/http-properties.ts";
export { type JsonBody, parseJsonBody } from "./request/json-body.ts";
export { findJsonFlaw } from "./request/json-scan.ts";
export { acceptedLanguages } from "./request/negotiation.ts";
export {
  booleanParameter,
  expandParameter,
  requireLeader,
  textParameter,
  timeParameter,
} from "./request/parameters.ts";
export { queryTextOf } from "./request/query.ts";
export { bodyTooSlow, readBody } from "./request/read-body.ts";
export { untilDrained } from "./responses/backpressure.ts";
export { type BytePart, contentRange, outOfRange, partOf } from "./responses/byte-range.ts";
export { disposition } from "./responses/disposition.ts";
export { createDocumentAnswer, variesByCoding } from "./responses/document-answer.ts";
export { refusedWith, statusOf } from "./responses/error-response.ts";
export { etagOfAnswer, ifMatch, isNotModified, strongEtag } from "./responses/etag.ts";
export { createRoutes, type Routes } from "./routes/create-routes.ts";
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
  refused,
  stream,
} from "./routes/http-response.ts";
export {
  type BodyForms,
  type KnownAnswer,
  type KnownAnswers,
  pathParamNames,
  type RouteAuth,
  type RouteInput,
  type RouteSpec,
  routeAccess,
} from "./routes/route-spec.ts";
export { idempotencyKeyOf, requestFingerprint } from "./steps/begin-idempotency.ts";
export { answeringRefusals, completed } from "./steps/run-route.ts";
