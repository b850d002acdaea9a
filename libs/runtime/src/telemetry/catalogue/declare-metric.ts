type MetricType = "counter" | "gauge" | "histogram";

/** One metric of the product. Its name ends with its unit, or names the counted things. */
export interface MetricDeclaration<T extends MetricType = MetricType, L extends string = string> {
  readonly type: T;
  readonly help: string;
  readonly labels: readonly L[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** From half a millisecond to half a minute: the range of our requests and messages. */
const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function counter<const L extends string = never>(
  help: string,
  labels: readonly L[] = [],
): MetricDeclaration<"counter", L> {
  return { type: "counter", help, labels };
}

export function gauge<const L extends string = never>(
  help: string,
  labels: readonly L[] = [],
): MetricDeclaration<"gauge", L> {
  return { type: "gauge", help, labels };
}

export function histogram<const L extends string = never>(
  help: string,
  labels: readonly L[] = [],
  buckets: readonly number[] = secondsBuckets,
): MetricDeclaration<"histogram", L> {
  return { type: "histogram", help, labels, buckets };
}
