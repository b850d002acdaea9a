import type { Scope } from "@signalbox/contracts";
import type { DetailCode, ErrorDetail } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import type { RotateKeyOutcome } from "./api-keys.ts";
import type { Credential } from "./credential.ts";
import type { CreateOutcome } from "./credentials.ts";
import type { RotateSecretOutcome } from "./service-clients.ts";

type Refused<Outcome> = Exclude<Outcome, { outcome: "issued" }>;
type RefusedCreation = Refused<CreateOutcome<Credential>>;

/** Maps a refused new key to its answer, the same in REST and GraphQL. */
export function refusedKey(result: RefusedCreation): Refusal {
  if (result.outcome === "no-issuer") return noIssuer;
  return result.outcome === "invalid" ? invalid(result, "key") : tooManyKeys(result.max);
}

/** Maps a refused new service client to its answer. */
export function refusedClient(result: RefusedCreation): Refusal {
  if (result.outcome === "no-issuer") return noIssuer;
  if (result.outcome === "invalid") return invalid(result, "client");
  const message = `The account has ${result.max} service clients; revoke one that is not needed.`;
  return conflict("clients", "too_many", message);
}

/** Maps a refused rotation of a key to its answer. */
export function refusedKeyRotation(result: Refused<RotateKeyOutcome>): Refusal {
  switch (result.outcome) {
    case "ended":
      return conflict("status", result.status, `The key is ${result.status}; create a new one instead.`);
    case "already-replaced":
      return conflict("replaced_by", "already_replaced", `The key was replaced by ${result.by}; rotate that one.`);
    case "limit-reached":
      return tooManyKeys(result.max);
  }
}

/** Maps a refused rotation of a client's secret to its answer. */
export function refusedSecretRotation(result: Refused<RotateSecretOutcome>): Refusal {
  switch (result.outcome) {
    case "not-active":
      return conflict("status", "not_active", "The client is revoked or has expired.");
    case "already-rotated": {
      const until = result.previousUntil?.toISOString();
      const message = `The previous secret is valid until ${until}. Rotate after that, or with an overlap of 0 seconds, which ends every older secret at once.`;
      return conflict("overlap_seconds", "already_rotated", message);
    }
  }
}

function invalid(result: Extract<RefusedCreation, { outcome: "invalid" }>, noun: string): Refusal {
  return refusal("validation_error", [
    ...result.privileged.map(privileged),
    ...result.beyondCreator.map((scope) => beyondCreator(scope, noun)),
    ...(result.isExpiryPassed ? [expiryPassed] : []),
    ...(result.outlivesCreator ? [outlivesCreator(noun)] : []),
  ]);
}

const expiryPassed: ErrorDetail = { field: "expires_at", code: "passed", message: "This time has passed." };

const outlivesCreator = (noun: string): ErrorDetail => ({
  field: "expires_at",
  code: "beyond_creator",
  message: `Your API key expires, and a ${noun} that it creates cannot live longer.`,
});

const privileged = (scope: Scope): ErrorDetail => ({
  field: "scopes",
  code: "privileged",
  message: `The scope ${scope} comes from a role or an API key, never from a client.`,
});

const beyondCreator = (scope: Scope, noun: string): ErrorDetail => ({
  field: "scopes",
  code: "beyond_creator",
  message: `You do not have the scope ${scope}, so a ${noun} of yours cannot have it.`,
});

const tooManyKeys = (max: number): Refusal =>
  conflict("api_keys", "too_many", `The account has ${max} keys; revoke one that is not needed.`);

const conflict = (field: string, code: DetailCode, message: string): Refusal =>
  refusal("conflict", [{ field, code, message }]);

const refusal = (code: Refusal["code"], details: readonly ErrorDetail[]): Refusal => ({
  code,
  message: details[0]?.message ?? "",
  details,
});

const noIssuer = conflict(
  "clients",
  "no_issuer",
  "Service clients get their tokens from the built-in issuer, which does not run here. Create the client at the identity provider, or use an API key.",
);
