export {
  type Clock,
  createManualClock,
  createMovableClock,
  type ManualClock,
  setSystemClock,
  systemClock,
  threadProcessorMs,
  trueMs,
} from "./clock.ts";
export { definedMembers } from "./defined-members.ts";
export { entryLimit } from "./entry-limit.ts";
export {
  AppError,
  type ErrorDetail,
  errorBody,
  errorDocsAt,
  graphqlErrorBody,
  graphqlExtensions,
  isAppError,
  type Refusal,
} from "./error-body.ts";
export { type DetailCode, detailCodes, type ErrorCode, errorCodes } from "./error-codes.ts";
export { FairQueue } from "./fair-queue.ts";
export {
  base62,
  namedUuidv7,
  newId,
  newRequestId,
  randomId,
  requestIdOf,
  requestIdPattern,
  timeOfPublicId,
  uuidv7,
} from "./ids.ts";
export { camelCase, snakeCase } from "./letter-case.ts";
export { canonicalLocale } from "./locale.ts";
export { changedMembers, type Patch, patched } from "./patch.ts";
export { RawJson } from "./raw-json.ts";
export { parseRfc3339, timeExample } from "./rfc3339.ts";
export { isSecretName, masked, maskText } from "./secrets.ts";
export { securityHeaders, transportSecurity } from "./security-headers.ts";
export { type ServiceName, serviceNames } from "./service-names.ts";
export { shortened, textFault, textFaults } from "./text-fault.ts";
export { failureChain, failureCode, isSqlState, isUnavailable } from "./unavailable.ts";
export { hours, KiB, MiB, minutes, seconds } from "./units.ts";
