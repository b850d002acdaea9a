import styles from "./parts.module.css";

/** Counts of a length of time, such as an hour. */
export interface Bucket {
  readonly start: string;
  readonly delivered: number;
  readonly failed: number;
}

/** A kind of thing that is counted, with the words for it. Bad ones are narrower, so that shape tells them apart. */
interface Series<Counted> {
  readonly name: string;
  readonly kind: "ok" | "again" | "no";
  readonly count: (bucket: Counted) => number;
}

interface StackProps<Counted> {
  readonly buckets: readonly Counted[];
  readonly series: readonly Series<Counted>[];
  readonly label: string;
  readonly height?: number;
}

const attempts: readonly Series<Bucket>[] = [
  { name: "delivered", kind: "ok", count: ({ delivered }) => delivered },
  { name: "failed", kind: "no", count: ({ failed }) => failed },
];

/** Attempts by hour as small bars: delivered from the ground, failed on top. */
export const Bars = (props: Omit<StackProps<Bucket>, "series">) => <StackedBars series={attempts} {...props} />;

/** Counts by hour as small bars, each kind on top of the one before. */
export function StackedBars<Counted extends { readonly start: string }>({
  buckets,
  series,
  label,
  height = 24,
}: StackProps<Counted>) {
  const sumOf = (bucket: Counted) => series.reduce((sum, { count }) => sum + count(bucket), 0);
  const most = Math.max(1, ...buckets.map(sumOf));
  const totals = series.map(({ name, count }) => `${buckets.reduce((sum, one) => sum + count(one), 0)} ${name}`);
  return (
    <svg
      className={styles.bars}
      role="img"
      aria-label={`${label}: ${totals.join(", ")}`}
      viewBox={`0 0 ${buckets.length * 8} ${height}`}
      height={height}
      preserveAspectRatio="none"
    >
      {buckets.map((bucket, at) => (
        <Stack key={bucket.start} bucket={bucket} series={series} x={at * 8} most={most} height={height} />
      ))}
    </svg>
  );
}

interface OneProps<Counted> {
  readonly bucket: Counted;
  readonly series: readonly Series<Counted>[];
  readonly x: number;
  readonly most: number;
  readonly height: number;
}

function Stack<Counted extends { readonly start: string }>({ bucket, series, x, most, height }: OneProps<Counted>) {
  let top = height;
  const words = series.map(({ name, count }) => `${count(bucket)} ${name}`).join(", ");
  return (
    <g>
      <title>{`${new Date(bucket.start).toLocaleTimeString()}: ${words}`}</title>
      <rect className={styles.none} x={x + 1} y={height - 1} width={6} height={1} />
      {series.map(({ name, kind, count }) => {
        const own = count(bucket);
        const size = own === 0 ? 0 : Math.max(2, (own / most) * (height - 2));
        top -= size;
        const [left, width] = kind === "no" ? [2, 4] : [1, 6];
        return <rect key={name} className={styles[kind]} x={x + left} y={top} width={width} height={size} />;
      })}
    </g>
  );
}

const hourMs = 3_600_000;

/** Fills the hours of the last day in which nothing happened with what `none` says of one. */
export function fullDay<Counted extends { readonly start: string }>(
  items: readonly Counted[],
  none: (start: string) => Counted,
  nowMs = Date.now(),
): Counted[] {
  const known = new Map(items.map((item) => [Date.parse(item.start), item]));
  const last = Math.floor(nowMs / hourMs) * hourMs;
  return Array.from({ length: 24 }, (_, at) => {
    const startMs = last - (23 - at) * hourMs;
    return known.get(startMs) ?? none(new Date(startMs).toISOString());
  });
}

/** Fills the hours of the last day without attempts. */
export const hoursOfDay = (items: readonly Bucket[]): Bucket[] =>
  fullDay(items, (start) => ({ start, delivered: 0, failed: 0 }));
