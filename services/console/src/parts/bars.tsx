import styles from "./parts.module.css";

export interface Bucket {
  readonly start: string;
  readonly delivered: number;
  readonly failed: number;
}

/** Attempts by hour as small bars: delivered from the ground, failed on top and narrower, so that shape tells them apart. */
export function Bars({
  buckets,
  label,
  height = 24,
}: {
  readonly buckets: readonly Bucket[];
  readonly label: string;
  readonly height?: number;
}) {
  const most = Math.max(1, ...buckets.map(({ delivered, failed }) => delivered + failed));
  const [delivered, failed] = (["delivered", "failed"] as const).map((name) =>
    buckets.reduce((sum, one) => sum + one[name], 0),
  );
  return (
    <svg
      className={styles.bars}
      role="img"
      aria-label={`${label}: ${delivered} delivered, ${failed} failed`}
      viewBox={`0 0 ${buckets.length * 8} ${height}`}
      height={height}
      preserveAspectRatio="none"
    >
      {buckets.map((bucket, at) => (
        <Bar key={bucket.start} bucket={bucket} x={at * 8} most={most} height={height} />
      ))}
    </svg>
  );
}

function Bar({
  bucket,
  x,
  most,
  height,
}: {
  readonly bucket: Bucket;
  readonly x: number;
  readonly most: number;
  readonly height: number;
}) {
  const { start, delivered, failed } = bucket;
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * (height - 2)));
  const [ok, no] = [scale(delivered), scale(failed)];
  return (
    <g>
      <title>{`${new Date(start).toLocaleTimeString()}: ${delivered} delivered, ${failed} failed`}</title>
      <rect className={styles.none} x={x + 1} y={height - 1} width={6} height={1} />
      <rect className={styles.ok} x={x + 1} y={height - ok} width={6} height={ok} />
      <rect className={styles.no} x={x + 2} y={height - ok - no} width={4} height={no} />
    </g>
  );
}

const hourMs = 3_600_000;

/** Fills the hours of the last day in which nothing happened. */
export function hoursOfDay(items: ReadonlyArray<Bucket>, nowMs = Date.now()): Bucket[] {
  const known = new Map(items.map((item) => [Date.parse(item.start), item]));
  const last = Math.floor(nowMs / hourMs) * hourMs;
  return Array.from({ length: 24 }, (_, at) => {
    const startMs = last - (23 - at) * hourMs;
    return known.get(startMs) ?? { start: new Date(startMs).toISOString(), delivered: 0, failed: 0 };
  });
}
