import type { Scope } from "@signalbox/contracts";
import type { ErrorCode, ErrorDetail } from "@signalbox/core";
import type { IssueApiKeyOutcome } from "./issue-api-key.ts";
import type { RotateApiKeyOutcome } from "./rotate-api-key.ts";

/** Why no key was made, in the words of both REST and GraphQL. */
export interface KeyRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** Why a new key was refused. */
export function refusedIssue(result: Exclude<IssueApiKeyOutcome, { outcome: "issued" }>): KeyRefusal {
  switch (result.outcome) {
    case "not-found":
      return { code: "not_found", message: "The account does not exist any more.", details: [] };
    case "refused":
      return refusal("validation_error", [
        ...result.beyondCreator.map(beyondCreator),
        ...(result.isExpiryPassed ? [expiryPassed] : []),
      ]);
    case "too-many-keys":
      return tooMany(result.max);
  }
}

/** Why a rotation was refused. */
export function refusedRotation(result: Exclude<RotateApiKeyOutcome, { outcome: "rotated" }>): KeyRefusal {
  switch (result.outcome) {
    case "not-found":
      return { code: "not_found", message: "There is no such key.", details: [] };
    case "ended":
      return conflict("status", result.status, `The key is ${result.status}; make a new one instead.`);
    case "already-replaced":
      return conflict("replaced_by", "already_replaced", `The key is replaced by ${result.by}; rotate that one.`);
    case "too-many-keys":
      return tooMany(result.max);
  }
}

const expiryPassed: ErrorDetail = { field: "expires_at", code: "passed", message: "This time has passed." };

const beyondCreator = (scope: Scope): ErrorDetail => ({
  field: "scopes",
  code: "beyond_creator",
  message: `You do not have the scope ${scope}, so a key of yours cannot have it.`,
});

const tooMany = (max: number): KeyRefusal =>
  conflict("api_keys", "too_many", `The account has ${max} keys; revoke one that is not needed.`);

const conflict = (field: string, code: string, message: string): KeyRefusal =>
  refusal("conflict", [{ field, code, message }]);

const refusal = (code: ErrorCode, details: readonly ErrorDetail[]): KeyRefusal => ({
  code,
  message: details[0]?.message ?? "",
  details,
});
