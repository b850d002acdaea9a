import type { Scope } from "@signalbox/contracts";
import type { ErrorCode, ErrorDetail } from "@signalbox/core";
import type { MakeClientOutcome } from "./make-client.ts";

/** Why no client was made, in the words of both REST and GraphQL. */
export interface ClientRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** Why a new client was refused. */
export function refusedMaking(result: Exclude<MakeClientOutcome, { outcome: "made" }>): ClientRefusal {
  switch (result.outcome) {
    case "scopes-refused":
      return refusal("validation_error", [
        ...result.privileged.map(privileged),
        ...result.beyondCreator.map(beyondCreator),
      ]);
    case "expiry-passed":
      return refusal("validation_error", [{ field: "expires_at", code: "passed", message: "This time has passed." }]);
    case "too-many": {
      const message = `The account has ${result.max} service clients; revoke one that is not needed.`;
      return refusal("conflict", [{ field: "clients", code: "too_many", message }]);
    }
  }
}

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

const refusal = (code: ErrorCode, details: readonly ErrorDetail[]): ClientRefusal => ({
  code,
  message: details[0]?.message ?? "",
  details,
});
