import { isUnavailable } from "@signalbox/core";
import * as prometheus from "prom-client";
import type { MetricDeclaration, MetricDeclarations } from "./catalogue/declare-metric.ts";
import { type MetricCatalogue, metricCatalogue } from "./catalogue/metric-catalogue.ts";
import { spanEngine } from "./tracing/span-engine.ts";

/** The values of a metric's labels. */
export type Labels<L extends string> = Readonly<Record<L, string>>;

/** Omits the labels of a metric without any, or takes `{}` before a value. */
type With<L extends string, Rest extends unknown[]> = [L] extends [never]
  ? [labels?: Readonly<Record<string, never>>, ...rest: Rest]
  : [labels: Labels<L>, ...rest: Rest];
type Needs<L extends string> = [L] extends [never] ? Readonly<Record<string, never>> : Labels<L>;

export interface Counter<L extends string = never> {
  /** Adds `by`, default 1. */
  inc(...by: With<L, [by?: number]>): void;
}

interface Gauge<L extends string = never> {
  set(labels: Needs<L>, value: number): void;
  inc(...by: With<L, [by?: number]>): void;
  dec(...by: With<L, [by?: number]>): void;
}

export interface Histogram<L extends string = never> {
  /** Records a value, with the current trace as its exemplar when that is exported. Durations are in seconds. */
  observe(labels: Needs<L>, value: number): void;
}

/** The names in a catalogue of one type of metric. */
type NamesOf<C extends MetricDeclarations, T extends MetricDeclaration["type"]> = {
  [N in keyof C]: C[N]["type"] extends T ? N : never;
}[keyof C] &
  string;
type LabelsOf<C extends MetricDeclarations, N extends keyof C> = C[N]["labels"][number];

/**
 * The metrics of one service, by their names in the catalogue. A name requested twice returns the same metric, so parts
 * may share it.
 */
export interface Metrics<C extends MetricDeclarations = MetricCatalogue> {
  readonly service: string;
  /**
   * Creates a counter. `collect` runs before each scrape, for values that are cheaper to read than to keep. Where it finds
   * the database or another engine away or slow, the last values stay: zero would end an alert, and a scrape that fails
   * or waits all of them.
   */
  counter<N extends NamesOf<C, "counter">>(
    name: N,
    collect?: (counter: Counter<LabelsOf<C, N>>) => void | Promise<void>,
  ): Counter<LabelsOf<C, N>>;
  /** Creates a gauge. `collect` as for a counter. */
  gauge<N extends NamesOf<C, "gauge">>(
    name: N,
    collect?: (gauge: Gauge<LabelsOf<C, N>>) => void | Promise<void>,
  ): Gauge<LabelsOf<C, N>>;
  histogram<N extends NamesOf<C, "histogram">>(name: N): Histogram<LabelsOf<C, N>>;
  /** Builds the OpenMetrics text of this service alone. */
  text(): Promise<string>;
}

export interface MetricsOptions {
  readonly service: string;
  /** Largest number of label combinations per metric; later ones are counted under `other`. */
  readonly combinationsMax?: number;
  /** Adds the metrics of the process: event-loop delay, heap, CPU, file handles. Once per process. */
  readonly process?: boolean;
}

/** The content type of a scrape. */
export const openMetricsContentType: string = prometheus.Registry.OPENMETRICS_CONTENT_TYPE;

/** Creates the metrics of a service, in a registry of their own; every sample carries the label `service`. */
export function createMetrics(options: MetricsOptions): Metrics;
export function createMetrics<const C extends MetricDeclarations>(
  options: MetricsOptions & { readonly catalogue: C },
): Metrics<C>;
export function createMetrics(options: MetricsOptions & { readonly catalogue?: MetricDeclarations }): unknown {
  return new RegisteredMetrics(options);
}

type Registry = prometheus.Registry<prometheus.OpenMetricsContentType>;

/** The declaration of every metric. Labels are checked by the types of `Metrics` and untyped here. */
interface Declaration {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: [Registry];
}

/** Gauges of Node that are named like counters: scrapers refuse them as either. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

class RegisteredMetrics {
  readonly service: string;
  readonly #registry: Registry = new prometheus.Registry();
  readonly #catalogue: MetricDeclarations;
  readonly #combinationsMax: number;
  readonly #made = new Map<string, unknown>();

  constructor({
    service,
    combinationsMax = 1000,
    process = false,
    catalogue = metricCatalogue,
  }: MetricsOptions & { readonly catalogue?: MetricDeclarations }) {
    this.service = service;
    this.#catalogue = catalogue;
    this.#combinationsMax = combinationsMax;
    this.#registry.setContentType(prometheus.Registry.OPENMETRICS_CONTENT_TYPE);
    this.#registry.setDefaultLabels({ service });
    if (!process) return;
    prometheus.collectDefaultMetrics({ register: this.#registry });
    for (const name of misnamed) this.#registry.removeSingleMetric(name);
  }

  counter(name: string, collect?: (counter: object) => void | Promise<void>): unknown {
    return this.#once(name, (declaration, guard) => {
      const counter = new prometheus.Counter({
        ...declaration,
        ...(collect && { collect: collector(() => collect(handle)) }),
      });
      const handle = { inc: (given?: object, by = 1) => counter.inc(guard(given), by) };
      return handle;
    });
  }

  gauge(name: string, collect?: (gauge: object) => void | Promise<void>): unknown {
    return this.#once(name, (declaration, guard) => {
      const gauge = new prometheus.Gauge({
        ...declaration,
        ...(collect && { collect: collector(() => collect(handle)) }),
      });
      const handle = {
        set: (given: object, value: number) => gauge.set(guard(given), value),
        inc: (given?: object, by = 1) => gauge.inc(guard(given), by),
        dec: (given?: object, by = 1) => gauge.dec(guard(given), by),
      };
      return handle;
    });
  }

  histogram(name: string): unknown {
    return this.#once(name, (declaration, guard) => {
      const buckets = [...(this.#catalogue[name]?.buckets ?? [])];
      const histogram = new prometheus.Histogram({ ...declaration, buckets, enableExemplars: true });
      const observe = (given: object, value: number) =>
        histogram.observe({ labels: guard(given), value, exemplarLabels: exemplar() } as never);
      return { observe };
    });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #once(name: string, make: (declaration: Declaration, guard: LabelGuard) => object): unknown {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const declared = this.#catalogue[name];
    if (!declared) throw new Error(`The metric ${name} is not in the catalogue.`);
    const { help, labels } = declared;
    const declaration: Declaration = { name, help, labelNames: [...labels], registers: [this.#registry] };
    const metric = make(declaration, createLabelGuard(labels, this.#combinationsMax));
    this.#made.set(name, metric);
    return metric;
  }
}

/** Time that a scrape waits for one value. Prometheus gives up after ten seconds, and with the scrape goes every value. */
const collectMsMax = 1_000;

/** Bounds the work before a scrape. What is late is set by then, or by the next scrape, which does not ask again. */
function collector(collect: () => void | Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return async () => {
    running ??= whileThere(collect).finally(() => {
      running = null;
    });
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, collectMsMax);
    await Promise.race([running, late.promise]).finally(() => clearTimeout(timer));
  };
}

async function whileThere(collect: () => void | Promise<void>): Promise<void> {
  try {
    await collect();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

/** Returns the current trace as an exemplar if it can be found: sampled and exported. */
function exemplar(): object {
  const { exports, current } = spanEngine();
  const identity = exports ? current() : undefined;
  const isSampled = identity !== undefined && (Number.parseInt(identity.flags, 16) & 1) === 1;
  return isSampled ? { trace_id: identity.traceId } : {};
}

type LabelGuard = (labels?: object) => Record<string, string>;

/** Replaces every label value once a metric has too many combinations. */
const overflowValue = "other";

/**
 * Bounds the combinations of label values of one metric: a label with a client's text must not fill the memory. The
 * first combinations keep their values; later ones are counted together under `other`.
 */
function createLabelGuard(names: readonly string[], combinationsMax: number): LabelGuard {
  const seen = new Set<string>();
  const overflow = Object.fromEntries(names.map((name) => [name, overflowValue]));
  return (given = {}) => {
    const labels = given as Record<string, string>;
    if (names.length === 0) return labels;
    const combination = names.map((name) => labels[name]).join("\u0000");
    if (seen.has(combination)) return labels;
    if (seen.size >= combinationsMax) return overflow;
    seen.add(combination);
    return labels;
  };
}
