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

const tooManyLive = (field: string, noun: string, { max }: LimitReached): Refusal =>
  tooMany(field, `A source has at most ${max} ${noun} at once; wait until one ends, or rotate with an overlap of 0.`);

export const tooManySecrets = (result: LimitReached) => tooManyLive("secret", "secrets", result);
export const tooManyAddresses = (result: LimitReached) => tooManyLive("ingest_path", "addresses", result);
