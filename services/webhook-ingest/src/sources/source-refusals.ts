import type { Refusal } from "@signalbox/http";

interface LimitReached {
  readonly max: number;
}

const tooMany = (field: string, message: string): Refusal => ({
  code: "conflict",
  message,
  details: [{ field, code: "too_many", message }],
});

/** Describes why a source was not created. */
export function refusedCreation(
  result: { outcome: "switched-off" } | ({ outcome: "limit-reached" } & LimitReached),
): Refusal {
  return result.outcome === "switched-off"
    ? { code: "forbidden", message: "Integrations are switched off." }
    : tooMany("sources", `The account has ${result.max} sources; delete one that is not needed.`);
}

/** Refusal of one secret too many. */
export const tooManySecrets = ({ max }: LimitReached): Refusal =>
  tooMany(
    "secret",
    `A source has at most ${max} secrets at once; wait until one ends, or rotate with an overlap of 0 seconds.`,
  );

/** Refusal of one address too many. */
export const tooManyAddresses = ({ max }: LimitReached): Refusal =>
  tooMany(
    "ingest_path",
    `A source has at most ${max} addresses at once; wait until one ends, or rotate with an overlap of 0 seconds.`,
  );
