export { AppError, type ErrorDetail, isAppError } from "./app-error.ts";
export { base62 } from "./base62.ts";
export {
  type Clock,
  createManualClock,
  createMovableClock,
  type ManualClock,
  setSystemClock,
  systemClock,
  trueMs,
} from "./clock.ts";
export { definedMembers } from "./defined-members.ts";
export { entryLimit } from "./entry-limit.ts";
export { errorBody, errorDocsAt, type Refusal } from "./error-body.ts";
export { type DetailCode, detailCodes, type ErrorCode, errorCodes } from "./error-codes.ts";
export { FairQueue } from "./fair-queue.ts";
export { graphqlErrorBody, graphqlExtensions } from "./graphql-error-body.ts";
export { namedUuidv7, newId, randomId, timeOfPublicId, uuidv7 } from "./ids.ts";
export { camelCase, snakeCase } from "./letter-case.ts";
export { changedMembers, type Patch, patched } from "./patch.ts";
export { threadProcessorMs } from "./processor-time.ts";
export { newRequestId, requestIdOf, requestIdPattern } from "./request-id.ts";
export { isSecretName, masked, maskText } from "./secrets.ts";
export { securityHeaders, transportSecurity } from "./security-headers.ts";
export { type ServiceName, serviceNames } from "./service-names.ts";
export { failureChain, failureCode, isSqlState, isUnavailable } from "./unavailable.ts";
export { hours, KiB, MiB, minutes, seconds } from "./units.ts";
