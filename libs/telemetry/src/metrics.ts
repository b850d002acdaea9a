import * as prometheus from "prom-client";
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
  /** Records a value, with the current trace as its exemplar when that is exported. Durations are in seconds. */
  observe(labels: Needs<L>, value: number): void;
}

/** The metrics of one service. Asking twice for one name gives the same metric, so parts may share it. */
export interface Metrics {
  readonly service: string;
  /** `collect` runs before each scrape, for values that are cheaper to ask for than to keep. */
  counter<const L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (counter: Counter<L>) => void | Promise<void>,
  ): Counter<L>;
  /** `collect` as for a counter. */
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

/** The content type of a scrape. */
export const openMetricsContentType: string = prometheus.Registry.OPENMETRICS_CONTENT_TYPE;

/** From half a millisecond to half a minute: what our requests and messages take. */
const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the metrics of a service, in a registry of their own; every sample carries the label `service`. */
export function createMetrics(options: MetricsOptions): Metrics {
  return new RegisteredMetrics(options);
}

type Registry = prometheus.Registry<prometheus.OpenMetricsContentType>;

/** The declaration that every metric is made with. Labels are checked by the types of `Metrics` and untyped here. */
interface Declaration {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: [Registry];
}

class RegisteredMetrics implements Metrics {
  readonly service: string;
  readonly #registry: Registry = new prometheus.Registry();
  readonly #combinationsMax: number;
  readonly #made = new Map<string, unknown>();

  constructor({ service, combinationsMax = 1000, process = false }: MetricsOptions) {
    this.service = service;
    this.#combinationsMax = combinationsMax;
    this.#registry.setContentType(prometheus.Registry.OPENMETRICS_CONTENT_TYPE);
    this.#registry.setDefaultLabels({ service });
    if (process) prometheus.collectDefaultMetrics({ register: this.#registry });
  }

  counter<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (counter: Counter<L>) => void | Promise<void>,
  ): Counter<L> {
    return this.#once(name, help, labels, (declaration, guard) => {
      const counter = new prometheus.Counter({
        ...declaration,
        ...(collect && { collect: () => collect(handle as never) }),
      });
      const handle = { inc: (given?: object, by = 1) => counter.inc(guard(given), by) };
      return handle;
    });
  }

  gauge<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L> {
    return this.#once(name, help, labels, (declaration, guard) => {
      const gauge = new prometheus.Gauge({
        ...declaration,
        ...(collect && { collect: () => collect(handle as never) }),
      });
      const handle = {
        set: (given: object, value: number) => gauge.set(guard(given), value),
        inc: (given?: object, by = 1) => gauge.inc(guard(given), by),
        dec: (given?: object, by = 1) => gauge.dec(guard(given), by),
      };
      return handle;
    });
  }

  histogram<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    buckets: readonly number[] = secondsBuckets,
  ): Histogram<L> {
    return this.#once(name, help, labels, (declaration, guard) => {
      const histogram = new prometheus.Histogram({ ...declaration, buckets: [...buckets], enableExemplars: true });
      const observe = (given: object, value: number) =>
        histogram.observe({ labels: guard(given), value, exemplarLabels: exemplar() } as never);
      return { observe };
    });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #once<M>(
    name: string,
    help: string,
    labels: readonly string[],
    make: (declaration: Declaration, guard: LabelGuard) => object,
  ): M {
    const known = this.#made.get(name);
    if (known !== undefined) return known as M;
    this.#refuseSecondFamily(name);
    const declaration: Declaration = { name, help, labelNames: [...labels], registers: [this.#registry] };
    const metric = make(declaration, createLabelGuard(labels, this.#combinationsMax));
    this.#made.set(name, metric);
    return metric as M;
  }

  /** `a_total` is exposed as the family `a` (OpenMetrics 1.0): beside a gauge `a` no scraper would read the text. */
  #refuseSecondFamily(name: string): void {
    const family = familyOf(name);
    const twin = [...this.#made.keys()].find((made) => familyOf(made) === family);
    if (twin !== undefined) throw new Error(`The metrics ${twin} and ${name} would share the family ${family}.`);
  }
}

const familyOf = (name: string): string => name.replace(/_total$/, "");

/** The current trace, where somebody can look it up: one that was sampled and is exported. */
function exemplar(): object {
  const { exports, current } = spanEngine();
  const identity = exports ? current() : undefined;
  const isSampled = identity !== undefined && (Number.parseInt(identity.flags, 16) & 1) === 1;
  return isSampled ? { trace_id: identity.traceId } : {};
}

type LabelGuard = (labels?: object) => Record<string, string>;

/** Stands for every label value once a metric has too many combinations. */
const overflowValue = "other";

/**
 * Bounds the combinations of label values of one metric: a label that takes a client's text must not fill the memory.
 * Combinations seen first keep their values; later ones are counted together under `other`.
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
