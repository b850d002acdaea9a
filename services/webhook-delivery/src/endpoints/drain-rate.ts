import { seconds } from "@signalbox/core";
import { type Queryable, sql } from "@signalbox/storage";

/** Deliveries that were held go out at this rate first, in a second: the receiver may have just come back. */
export const firstDrainRate = 20;
const drainRateMin = 1;
const drainRateMax = 1_000;
const growth = 1.25;
const cut = 0.5;
/** Share of failures up to which the rate stays, beyond which it is cut. */
const failedShareMax = 0.1;
/** Time over which answers are counted before the rate changes again. */
export const adaptEveryMs = seconds(1);

/** Answers of an endpoint to the attempts of this instance since its rate was last adapted. */
export interface DrainAnswers {
  readonly succeeded: number;
  readonly failed: number;
  /** True while its answers take long. */
  readonly isSlow: boolean;
}

/** Returns the factor of an endpoint's drain rate: down when it fails, up while it answers well and uses the rate. */
export function drainFactor(rate: number, { succeeded, failed, isSlow }: DrainAnswers): number {
  const answers = succeeded + failed;
  if (failed > answers * failedShareMax) return cut;
  // Other instances may make the larger part of the attempts.
  const isUsed = answers * 4 >= rate * (adaptEveryMs / seconds(1));
  return failed === 0 && !isSlow && isUsed ? growth : 1;
}

/** One change for all instances in the time between two. */
const adapt = sql(
  "rate.adapt-drain",
  `update endpoint_rates set adapted_at = statement_timestamp(),
     drains_per_second = least(${drainRateMax}, greatest(${drainRateMin}, drains_per_second * $2::float8))
   where endpoint_id = $1
     and coalesce(adapted_at <= statement_timestamp() - ${adaptEveryMs * 0.9} * interval '1 ms', true)`,
);

export const adaptDrainRate = async (db: Queryable, endpointId: string, factor: number): Promise<void> =>
  void (await db.query(adapt, [endpointId, factor]));
