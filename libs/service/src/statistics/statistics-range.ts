import { minutes } from "@signalbox/core";
import { dayMs } from "@signalbox/storage";
import { type PeriodMinutes, statisticsMs } from "./statistics.ts";

interface Bucket {
  readonly minutes: number;
  /** The rows that it is summed up from. */
  readonly period: PeriodMinutes;
}

/** Lengths of a bucket. A bucket starts at a multiple of its length in UTC. */
const buckets = {
  "1m": { minutes: 1, period: 1 },
  "15m": { minutes: 15, period: 15 },
  "1h": { minutes: 60, period: 60 },
  "6h": { minutes: 360, period: 60 },
  "1d": { minutes: 1_440, period: 1_440 },
} as const satisfies Record<string, Bucket>;

export type BucketName = keyof typeof buckets;
export const bucketNames = Object.keys(buckets) as [BucketName, ...BucketName[]];
export const bucketDefault: BucketName = "1h";

/** A day of minutes, and a little more. */
const bucketsMax = 1_500;
const rangeDefaultMs = dayMs;
/** Requests come a while after their senders read the clock. */
const slackMs = minutes(10);

interface WantedRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly bucket: BucketName;
}

/** The whole buckets of a range, with the rows that have its figures. */
export interface BucketRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
  readonly period: PeriodMinutes;
}

interface RangeFault {
  readonly field: "from" | "to" | "bucket";
  readonly code: "invalid" | "too_small" | "too_big" | "too_many";
  readonly message: string;
}

/** Widens a range to whole buckets. Without a start it is the last day before its end, which is now by default. */
export function bucketRangeOf({ from, to, bucket }: WantedRange, nowMs: number): BucketRange {
  const { minutes: length, period } = buckets[bucket];
  const bucketMs = minutes(length);
  const endMs = to?.getTime() ?? nowMs;
  const startMs = from?.getTime() ?? endMs - rangeDefaultMs;
  const fromMs = Math.floor(startMs / bucketMs) * bucketMs;
  return { fromMs, toMs: Math.ceil(endMs / bucketMs) * bucketMs, bucketMs, period };
}

/** Returns what is wrong with a range; null for a good one. */
export function rangeFault(wanted: WantedRange, nowMs: number): RangeFault | null {
  const endMs = wanted.to?.getTime() ?? nowMs;
  const startMs = wanted.from?.getTime() ?? endMs - rangeDefaultMs;
  if (startMs >= endMs) {
    const end = wanted.to ? "`to`" : "now, where the range ends without `to`";
    return { field: "from", code: "invalid", message: `Must be before ${end}.` };
  }
  if (endMs - startMs > statisticsMs + slackMs) {
    const days = Math.round(((endMs - startMs) / dayMs) * 10) / 10;
    return { field: "from", code: "too_big", message: `A range has at most 30 days; this one has ${days}.` };
  }
  const oldestMs = nowMs - statisticsMs;
  if (startMs < oldestMs - slackMs) {
    const message = `Figures are kept for 30 days: must be ${new Date(oldestMs).toISOString()} or later.`;
    return { field: wanted.from ? "from" : "to", code: "too_small", message };
  }
  return tooManyBuckets(wanted.bucket, bucketRangeOf(wanted, nowMs));
}

function tooManyBuckets(bucket: BucketName, { fromMs, toMs, bucketMs }: BucketRange): RangeFault | null {
  const count = (toMs - fromMs) / bucketMs;
  if (count <= bucketsMax) return null;
  const longer = bucketNames.find((name) => (toMs - fromMs) / minutes(buckets[name].minutes) <= bucketsMax);
  const message = `The range has ${count} buckets of ${bucket}, and at most ${bucketsMax} are allowed: take ${longer} or a shorter range.`;
  return { field: "bucket", code: "too_many", message };
}
