/** The values of a metric's labels. */
export type Labels<L extends string> = Readonly<Record<L, string>>;

/** A metric without labels takes none, or `{}` before a value. */
type With<L extends string, Rest extends unknown[]> = [L] extends [never]
  ? [labels?: Readonly<Record<string, never>>, ...rest: Rest]
  : [labels: Labels<L>, ...rest: Rest];
type Needs<L extends string> = [L] extends [never] ? Readonly<Record<string, never>> : Labels<L>;

export interface Counter<L extends string = never> {
  /** Adds `by`, 1 when left out. */
  inc(...by: With<L, [by?: number]>): void;
}

export interface Gauge<L extends string = never> {
  set(labels: Needs<L>, value: number): void;
  inc(...by: With<L, [by?: number]>): void;
  dec(...by: With<L, [by?: number]>): void;
}

export interface Histogram<L extends string = never> {
  /** Records a value with the current trace as its exemplar. Durations are in seconds. */
  observe(labels: Needs<L>, value: number): void;
}

/** The metrics of one service. Asking twice for one name gives the same metric, so parts may share it. */
export interface Metrics {
  readonly service: string;
  counter<const L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** `collect` runs before each scrape, for values that are cheaper to ask for than to keep. */
  gauge<const L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>;
  histogram<const L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: readonly number[],
  ): Histogram<L>;
  /** The OpenMetrics text of this service alone. */
  text(): Promise<string>;
}

/** What a scrape is served as. */
export declare const openMetricsContentType: string;
export declare function createMetrics(options: { service: string }): Metrics;
/** One text of several services, each sample with the label `service`. */
export declare function mergeMetrics(metrics: readonly Metrics[]): Promise<string>;
