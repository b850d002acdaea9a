import type { ShownClasses } from "./masking.ts";
import type { PropertyScalar, PropertyValues } from "./property-declaration.ts";

/** One problem of the configuration. `value` is already masked. */
export interface Problem {
  readonly property: string;
  readonly source: string;
  readonly value: string;
  readonly expected: string;
  /** The whole sentence, where "<property> is <value>: expected <expected>" does not fit the problem. */
  readonly message?: string;
}

/** The newest change of one property. */
export interface OverrideChange {
  readonly revision: number;
  /** False where the override was removed. */
  readonly set: boolean;
  readonly value: unknown;
}

/** The overrides of all services after a revision. */
export interface OverrideSet {
  readonly revision: number;
  /** Changes by the overridden name; includes removed ones. */
  readonly changes: Readonly<Record<string, OverrideChange>>;
}

/** The value of a property after the next start, and its revision. */
export interface PendingValue {
  readonly value: PropertyScalar;
  readonly revision: number;
}

/** A value in the management view: masked where needed, with its origin. */
export interface PropertyEntry {
  readonly value: PropertyScalar;
  /** `signalbox.yaml:3`, `SIGNALBOX_HTTP_PORT` or `--http.port`; defaults have none. */
  readonly origin?: string;
  /** Present on the running value while another one waits for the next start. */
  readonly pending?: PendingValue;
}

export interface PropertySource {
  readonly name: string;
  readonly properties: Readonly<Record<string, PropertyEntry>>;
}

/**
 * The answer of `env/{name}`: the effective value, then every source in order of precedence, with its entry where it
 * has one.
 */
export interface PropertyLookup {
  readonly property: { readonly source: string; readonly value: PropertyScalar; readonly pending?: PendingValue };
  readonly propertySources: readonly { readonly name: string; readonly property?: PropertyEntry }[];
}

/** The running value of a property, masked where needed. */
export interface RunningValue {
  readonly value: PropertyScalar;
  /** The source of the value. */
  readonly source: string;
  readonly pending?: PendingValue;
}

/** The configuration of one service: read once at start, then changed only through its overrides. */
export interface Configuration<P> {
  readonly service: string;
  /** Returns the current value. Live properties change; the others keep the value of the start. */
  get<N extends keyof P & string>(name: N): PropertyValues<P>[N];
  /**
   * Calls the listener after each change of a live property, until the returned function is called. Throws for a
   * property that is not live.
   */
  onChange<N extends keyof P & string>(
    name: N,
    listener: (value: PropertyValues<P>[N], previous: PropertyValues<P>[N]) => void,
  ): () => void;
  /** Returns the source of the value, for messages. */
  sourceOf(name: keyof P & string): string;
  /** Returns true when `name`, bare or with the service's prefix, is declared here. */
  knows(name: string): boolean;
  /** Lists every source, highest precedence first, with the running values, masked except for the shown classes. */
  propertySources(shown?: ShownClasses): PropertySource[];
  /** Finds one property with its effective value; `null` for an undeclared name. */
  find(name: string, shown?: ShownClasses): PropertyLookup | null;
  /** Lists the running value of every declared property, masked, by its bare name. */
  runningValues(): Readonly<Record<string, RunningValue>>;
  /**
   * Applies overrides before the service is built: the only ones that reach properties with `reload: "restart"`. A
   * property that was already read keeps its value, and the override is pending.
   */
  startWith(overrides: OverrideSet): Problem[];
  /**
   * Replaces the database overrides. Names of other services are skipped; returns the refused ones, the rest applies.
   */
  setOverrides(overrides: OverrideSet): Problem[];
  /** The revision of the active overrides; `null` before the first. */
  readonly revision: number | null;
  /** Lists the names with an override that waits for the next start. */
  pendingRestart(): string[];
}

/** The configuration is invalid. The message lists every problem, one a line, ready for an operator. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`The configuration is not valid:\n${problems.map(describe).join("\n")}`);
    this.problems = problems;
  }
}

function describe({ property, source, value, expected, message }: Problem): string {
  return `  ${message ?? `${property} (from ${source}) is ${value}: expected ${expected}`}`;
}
