export { AppError, type ErrorCode, type ErrorDetail, errorCodes, isAppError } from "./app-error.ts";
export { base62 } from "./base62.ts";
export { type Clock, createManualClock, type ManualClock, systemClock } from "./clock.ts";
export { newId, randomId, uuidv7 } from "./ids.ts";
export { changedMembers, type Patch, patched } from "./patch.ts";
export { isSecretName, masked, maskText } from "./secrets.ts";
export { type ServiceName, serviceNames } from "./service-names.ts";
export { failureChain, failureCode, isSqlState, isUnavailable } from "./unavailable.ts";
export { hours, KiB, MiB, minutes, seconds } from "./units.ts";
