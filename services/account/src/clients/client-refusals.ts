import type { Scope } from "@signalbox/contracts";
import type { ErrorCode, ErrorDetail } from "@signalbox/core";
import type { RotateClientSecretOutcome } from "./change-client.ts";
import type { MakeClientOutcome } from "./make-client.ts";

/** Why a client was not made or changed, in the words of both REST and GraphQL. */
export interface ClientRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** Why a new client was refused. */
export function refusedMaking(result: Exclude<MakeClientOutcome, { outcome: "made" }>): ClientRefusal {
  switch (result.outcome) {
    case "refused":
      return refusal("validation_error", [
        ...result.privileged.map(privileged),
        ...result.beyondCreator.map(beyondCreator),
        ...(result.isExpiryPassed ? [expiryPassed] : []),
      ]);
    case "not-found":
      return { code: "not_found", message: "The account does not exist any more.", details: [] };
    case "too-many":
      return conflict(
        "clients",
        "too_many",
        `The account has ${result.max} service clients; revoke one that is not needed.`,
      );
  }
}

/** Why a client got no other secret. */
export function refusedRotation(result: Exclude<RotateClientSecretOutcome, { outcome: "rotated" }>): ClientRefusal {
  switch (result.outcome) {
    case "not-found":
      return { code: "not_found", message: "There is no such client.", details: [] };
    case "not-active":
      return conflict("status", "not_active", "The client is revoked or has expired.");
    case "already-rotated": {
      const until = result.previousUntil.toISOString();
      const message = `The secret before the last rotation is good until ${until}. Rotate after that, or with an overlap of 0 seconds, which ends every older secret at once.`;
      return conflict("overlap_seconds", "already_rotated", message);
    }
  }
}

const expiryPassed: ErrorDetail = { field: "expires_at", code: "passed", message: "This time has passed." };

const privileged = (scope: Scope): ErrorDetail => ({
  field: "scopes",
  code: "privileged",
  message: `The scope ${scope} comes from a role or an API key, never from a client.`,
});

const beyondCreator = (scope: Scope): ErrorDetail => ({
  field: "scopes",
  code: "beyond_creator",
  message: `You do not have the scope ${scope}, so a client of yours cannot have it.`,
});

const conflict = (field: string, code: string, message: string): ClientRefusal =>
  refusal("conflict", [{ field, code, message }]);

const refusal = (code: ErrorCode, details: readonly ErrorDetail[]): ClientRefusal => ({
  code,
  message: details[0]?.message ?? "",
  details,
});
