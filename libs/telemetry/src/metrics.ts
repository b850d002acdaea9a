import * as prometheus from "prom-client";
import { createLabelGuard } from "./label-guard.ts";
import { spanEngine } from "./span-engine.ts";

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

export interface MetricsOptions {
  readonly service: string;
  /** Combinations of label values per metric; later ones are counted under `other`. */
  readonly combinationsMax?: number;
  /** Adds the metrics of the process: event-loop delay, heap, CPU, file handles. Once per process. */
  readonly process?: boolean;
}

/** What a scrape is served as. */
export const openMetricsContentType: string = prometheus.Registry.OPENMETRICS_CONTENT_TYPE;

/** From half a millisecond to half a minute: what our requests and messages take. */
const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type AnyLabels = Record<string, string>;

/** Creates the metrics of a service, in a registry of their own; every sample carries the label `service`. */
export function createMetrics({ service, combinationsMax = 1000, process = false }: MetricsOptions): Metrics {
  const registry = new prometheus.Registry<prometheus.OpenMetricsContentType>();
  registry.setContentType(prometheus.Registry.OPENMETRICS_CONTENT_TYPE);
  registry.setDefaultLabels({ service });
  if (process) prometheus.collectDefaultMetrics({ register: registry });

  const made = new Map<string, unknown>();
  const once = <M>(name: string, make: () => M): M => {
    const metric = (made.get(name) as M | undefined) ?? make();
    made.set(name, metric);
    return metric;
  };
  const guardOf = (labels: readonly string[]) => createLabelGuard(labels, combinationsMax) as (l?: object) => AnyLabels;

  return {
    service,
    counter: (name, help, labels = []) =>
      once(name, () => {
        const guard = guardOf(labels);
        const counter: prometheus.Counter = new prometheus.Counter({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
        });
        return { inc: (given?: object, by = 1) => counter.inc(guard(given ?? {}), by) };
      }) as never,
    gauge: (name, help, labels = [], collect) =>
      once(name, () => {
        const guard = guardOf(labels);
        const gauge: prometheus.Gauge = new prometheus.Gauge({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
          ...(collect && { collect: () => collect(handle as never) }),
        });
        const handle = {
          set: (given: object, value: number) => gauge.set(guard(given), value),
          inc: (given?: object, by = 1) => gauge.inc(guard(given ?? {}), by),
          dec: (given?: object, by = 1) => gauge.dec(guard(given ?? {}), by),
        };
        return handle;
      }) as never,
    histogram: (name, help, labels = [], buckets = secondsBuckets) =>
      once(name, () => {
        const guard = guardOf(labels);
        const histogram = new prometheus.Histogram({
          name,
          help,
          labelNames: [...labels],
          buckets: [...buckets],
          registers: [registry],
          enableExemplars: true,
        });
        const observe = (given: object, value: number) =>
          histogram.observe({ labels: guard(given), value, exemplarLabels: exemplar() } as never);
        return { observe };
      }) as never,
    text: () => registry.metrics(),
  };
}

function exemplar(): object {
  const identity = spanEngine().current();
  return identity === undefined ? {} : { trace_id: identity.traceId };
}
