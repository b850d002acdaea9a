import type { ShownClasses } from "./mask.ts";
import type { PropertyScalar, PropertyValues } from "./property-declaration.ts";

/** One thing wrong with the configuration. `value` is already masked. */
export interface Problem {
  readonly property: string;
  readonly source: string;
  readonly value: string;
  readonly expected: string;
}

/** The newest change of one property. */
export interface OverrideChange {
  readonly revision: number;
  /** False where the override was removed. */
  readonly set: boolean;
  readonly value: unknown;
}

/** The overrides of all services, as they stand after a revision. */
export interface OverrideSet {
  readonly revision: number;
  /** By the name that was overridden; also those that were removed since. */
  readonly changes: Readonly<Record<string, OverrideChange>>;
}

/** The value that a property takes with the next start, and the revision that set it. */
export interface PendingValue {
  readonly value: PropertyScalar;
  readonly revision: number;
}

/** A value as the management view shows it: masked where needed, with the place it was written. */
export interface PropertyEntry {
  readonly value: PropertyScalar;
  /** `signalbox.yaml:3`, `SIGNALBOX_HTTP_PORT` or `--http.port`; defaults have none. */
  readonly origin?: string;
  /** Stands at the value that runs while another one waits for the next start. */
  readonly pending?: PendingValue;
}

export interface PropertySource {
  readonly name: string;
  readonly properties: Readonly<Record<string, PropertyEntry>>;
}

/** The answer of `env/{name}`: the winner, then every source in order of precedence, with its entry where it has one. */
export interface PropertyLookup {
  readonly property: { readonly source: string; readonly value: PropertyScalar; readonly pending?: PendingValue };
  readonly propertySources: readonly { readonly name: string; readonly property?: PropertyEntry }[];
}

/** What a property runs with, masked where needed. */
export interface RunningValue {
  readonly value: PropertyScalar;
  /** The name of the source that gives the value. */
  readonly source: string;
  readonly pending?: PendingValue;
}

/** The configuration of one service: read once at start, then changed only through its overrides. */
export interface Configuration<P> {
  readonly service: string;
  /** The value now. Live properties change; the others keep the value of the start. */
  get<N extends keyof P & string>(name: N): PropertyValues<P>[N];
  /** Calls the listener after each change of a live property, until the returned function is called. Throws for one that is not live. */
  onChange<N extends keyof P & string>(
    name: N,
    listener: (value: PropertyValues<P>[N], previous: PropertyValues<P>[N]) => void,
  ): () => void;
  /** The name of the source that gives the value, for messages. */
  sourceOf(name: keyof P & string): string;
  /** Tells if `name`, bare or with the service's prefix, is declared here. */
  knows(name: string): boolean;
  /** Every source, highest precedence first, with the values that run, masked but for the classes that are shown. */
  propertySources(shown?: ShownClasses): PropertySource[];
  /** One property with its winner; `null` for a name that is not declared. */
  find(name: string, shown?: ShownClasses): PropertyLookup | null;
  /** Every declared property with what it runs with, masked, by its bare name. */
  runningValues(): Readonly<Record<string, RunningValue>>;
  /**
   * Applies the overrides that were there before the service is built: the only ones that reach properties with
   * `reload: "restart"`. One that was read before keeps its value, and is pending.
   */
  startWith(overrides: OverrideSet): Problem[];
  /** Replaces the database overrides. Names of other services are passed over; what is refused is returned, the rest applies. */
  setOverrides(overrides: OverrideSet): Problem[];
  /** The revision of the overrides in force; `null` before the first. */
  readonly revision: number | null;
  /** Names whose override waits for the next start. */
  pendingRestart(): string[];
}
