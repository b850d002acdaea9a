import type { Refusal } from "@signalbox/http";
import type { ReplayOutcome } from "./replays/replays.ts";

interface LimitReached {
  readonly max: number;
}

const tooMany = (field: string, message: string): Refusal => ({
  ...{ code: "conflict", message },
  details: [{ field, code: "too_many", message }],
});

/** Describes why an endpoint was not created. */
export function refusedEndpoint(
  result: { readonly outcome: "switched-off" } | ({ readonly outcome: "limit-reached" } & LimitReached),
): Refusal {
  return result.outcome === "switched-off"
    ? { code: "forbidden", message: "Webhook endpoints are switched off." }
    : tooMany("endpoints", `The account has ${result.max} endpoints; delete one that is not needed.`);
}

/** Refusal to pause or resume a disabled endpoint. */
export const disabledEndpoint: Refusal = {
  code: "conflict",
  message: "The endpoint is disabled; enable it first.",
};

/** Refusal of one secret too many. */
export const tooManySecrets = ({ max }: LimitReached): Refusal =>
  tooMany(
    "secret",
    `The endpoint has ${max} live secrets; end the older ones, or rotate with an overlap of 0 seconds.`,
  );

/** Refusal of one signing key too many. */
export const tooManyKeys = ({ max }: LimitReached): Refusal =>
  tooMany("key", `The account has ${max} live keys; wait until one ends, or rotate with an overlap of 0 seconds.`);

/** Describes why an event type was not declared. */
export function refusedType(
  result: { readonly outcome: "exists" } | ({ readonly outcome: "limit-reached" } & LimitReached),
): Refusal {
  return result.outcome === "exists"
    ? { code: "conflict", message: "The account has a type of this name." }
    : tooMany("event_types", `The account has ${result.max} types; delete one that is not needed.`);
}

/** Describes why a replay was not started. */
export function refusedReplay(result: Exclude<ReplayOutcome, { outcome: "started" | "counted" }>): Refusal {
  switch (result.outcome) {
    case "no-endpoint":
      return { code: "not_found", message: "There is no such endpoint." };
    case "limit-reached":
      return { code: "conflict", message: "A replay of this endpoint is running: wait for it, or cancel it." };
    case "too-many": {
      const message = `More than ${result.max} deliveries match: choose a shorter time.`;
      return { code: "validation_error", message, details: [{ field: "from", code: "too_big", message }] };
    }
  }
}
