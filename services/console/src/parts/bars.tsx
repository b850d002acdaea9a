import styles from "./parts.module.css";
import { useTimeChoice } from "./time-choice.ts";
import { exactTime } from "./time-text.ts";

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
  /** Of the last day; hours in which nothing happened may be missing. */
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
  const hours = hoursOfDay(buckets).map(({ startMs, counted }) => ({
    startMs,
    counts: series.map(({ count }) => (counted ? count(counted) : 0)),
  }));
  const most = Math.max(1, ...hours.map(({ counts }) => sumOf(counts)));
  const totals = series.map(({ name }, at) => `${sumOf(hours.map(({ counts }) => counts[at] ?? 0))} ${name}`);
  return (
    <svg
      className={styles.bars}
      role="img"
      aria-label={`${label}: ${totals.join(", ")}`}
      viewBox={`0 0 ${hours.length * 8} ${height}`}
      height={height}
      preserveAspectRatio="none"
    >
      {hours.map((hour, at) => (
        <Stack key={hour.startMs} {...hour} series={series} x={at * 8} most={most} height={height} />
      ))}
    </svg>
  );
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

interface OneProps {
  readonly startMs: number;
  /** By series. */
  readonly counts: readonly number[];
  readonly series: ReadonlyArray<Pick<Series<never>, "name" | "kind">>;
  readonly x: number;
  readonly most: number;
  readonly height: number;
}

function Stack({ startMs, counts, series, x, most, height }: OneProps) {
  let top = height;
  const words = series.map(({ name }, at) => `${counts[at]} ${name}`).join(", ");
  return (
    <g>
      <title>{`${exactTime(new Date(startMs).toISOString(), useTimeChoice())}: ${words}`}</title>
      <rect className={styles.none} x={x + 1} y={height - 1} width={6} height={1} />
      {series.map(({ name, kind }, at) => {
        const own = counts[at] ?? 0;
        const size = own === 0 ? 0 : Math.max(2, (own / most) * (height - 2));
        top -= size;
        const [left, width] = kind === "no" ? [2, 4] : [1, 6];
        return <rect key={name} className={styles[kind]} x={x + left} y={top} width={width} height={size} />;
      })}
    </g>
  );
}

const hourMs = 3_600_000;

/** The hours of the last day; one in which nothing happened has no counts. */
function hoursOfDay<Counted extends { readonly start: string }>(items: readonly Counted[]) {
  const known = new Map(items.map((item) => [Date.parse(item.start), item]));
  const last = Math.floor(Date.now() / hourMs) * hourMs;
  return Array.from({ length: 24 }, (_, at) => {
    const startMs = last - (23 - at) * hourMs;
    return { startMs, counted: known.get(startMs) };
  });
}
