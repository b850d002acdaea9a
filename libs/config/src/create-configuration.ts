import type { Addresses } from "./addresses.ts";
import { checkOverrides } from "./check-overrides.ts";
import { sanitizeProperty } from "./check-sources.ts";
import type { Configuration, Problem, PropertyLookup, PropertySource } from "./configuration.ts";
import { type View, viewProperty, viewSources } from "./management-view.ts";
import { createSanitizer } from "./mask.ts";
import { checkValue, parseText } from "./parse-value.ts";
import type {
  PropertyDeclaration,
  PropertyDeclarations,
  PropertyScalar,
  PropertyValues,
} from "./property-declaration.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

interface Parts<P> {
  readonly service: string;
  readonly properties: P;
  readonly addresses: Addresses;
  readonly aboveOverrides: readonly ValueSource[];
  readonly belowOverrides: readonly ValueSource[];
  readonly overrides?: { readonly values: Readonly<Record<string, unknown>>; readonly revision: string } | undefined;
}

type Listener = (value: PropertyScalar, previous: PropertyScalar) => void;

/** Joins checked sources into values, and keeps the live ones current. */
export function createConfiguration<P extends PropertyDeclarations>(parts: Parts<P>): Configuration<P> {
  return new JoinedSources(parts);
}

class JoinedSources<P extends PropertyDeclarations> implements Configuration<P> {
  readonly #parts: Parts<P>;
  readonly #names: readonly string[];
  readonly #defaults: ValueSource;
  readonly #values: Map<string, PropertyScalar>;
  readonly #sourcesAtStart: ReadonlyMap<string, string>;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #view: View;
  #overrides: ValueSource = { name: "overrides", entries: new Map(), faults: [] };
  #revision: string | null = null;

  constructor(parts: Parts<P>) {
    const { service, properties, addresses } = parts;
    this.#parts = parts;
    this.#names = Object.keys(properties);
    this.#defaults = defaultsOf(service, properties);
    if (parts.overrides) this.#putOverrides(parts.overrides.values, parts.overrides.revision);
    this.#values = new Map(this.#names.map((name) => [name, this.#resolve(name)]));
    this.#sourcesAtStart = new Map(this.#names.map((name) => [name, this.#winner(name).source.name]));
    const isSanitized = createSanitizer((this.#values.get(sanitizeProperty) ?? []) as readonly string[]);
    this.#view = { properties, addresses, isSanitized };
  }

  get service(): string {
    return this.#parts.service;
  }

  get revision(): string | null {
    return this.#revision;
  }

  get<N extends keyof P & string>(name: N): PropertyValues<P>[N] {
    const value = this.#values.get(name);
    if (value === undefined) throw new Error(`The property ${name} is not declared by ${this.service}`);
    return value as PropertyValues<P>[N];
  }

  onChange<N extends keyof P & string>(
    name: N,
    listener: (value: PropertyValues<P>[N], previous: PropertyValues<P>[N]) => void,
  ): () => void {
    if (!this.#isLive(name)) throw new Error(`The property ${name} does not change while running`);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener));
    return () => void listeners.delete(listener as Listener);
  }

  sourceOf(name: keyof P & string): string {
    return this.#isLive(name) ? this.#winner(name).source.name : (this.#sourcesAtStart.get(name) as string);
  }

  knows(name: string): boolean {
    return this.#parts.addresses.property(name) !== undefined;
  }

  propertySources(): PropertySource[] {
    return viewSources(this.#sources(), this.#view);
  }

  find(name: string): PropertyLookup | null {
    return viewProperty(name, this.#sources(), this.#view);
  }

  setOverrides(given: Readonly<Record<string, unknown>>, revision: string): Problem[] {
    const problems = this.#putOverrides(given, revision);
    const changes = this.#names
      .filter((name) => this.#isLive(name))
      .map((name) => ({ name, previous: this.#values.get(name) as PropertyScalar, value: this.#resolve(name) }))
      .filter(({ previous, value }) => !isSame(previous, value));
    for (const { name, value } of changes) this.#values.set(name, value);
    tell(changes, this.#listeners);
    return problems;
  }

  pendingRestart(): string[] {
    return this.#names.filter((name) => !isSame(this.#values.get(name) as PropertyScalar, this.#resolve(name)));
  }

  #isLive(name: string): boolean {
    return this.#parts.properties[name]?.reload === "live";
  }

  #sources(): ValueSource[] {
    return [...this.#parts.aboveOverrides, this.#overrides, ...this.#parts.belowOverrides, this.#defaults];
  }

  /** The entry that counts: an address of higher rank beats a source of higher rank. */
  #winner(name: string): { source: ValueSource; entry: SourceEntry } {
    const sources = this.#sources();
    for (const address of this.#parts.addresses.of(name)) {
      for (const source of sources) {
        const entry = source.entries.get(address);
        if (entry) return { source, entry };
      }
    }
    throw new Error(`The property ${name} is not declared`);
  }

  #resolve(name: string): PropertyScalar {
    const { source, entry } = this.#winner(name);
    const declaration = this.#parts.properties[name] as PropertyDeclaration;
    const isTyped = source === this.#overrides || source === this.#defaults;
    const parsed = isTyped ? checkValue(declaration, entry.raw) : parseText(declaration, entry.raw);
    if (!parsed.ok) throw new Error(`The property ${name} has a value that was not checked`);
    return parsed.value;
  }

  #putOverrides(given: Readonly<Record<string, unknown>>, revision: string): Problem[] {
    const { properties, addresses } = this.#parts;
    const checked = checkOverrides(given, revision, properties, addresses);
    this.#overrides = { name: "overrides", entries: checked.entries, faults: [] };
    this.#revision = revision;
    return checked.problems;
  }
}

/** Every listener hears of every change, also when another one throws. */
function tell(
  changes: readonly { name: string; value: PropertyScalar; previous: PropertyScalar }[],
  listeners: ReadonlyMap<string, ReadonlySet<Listener>>,
): void {
  const errors: unknown[] = [];
  for (const { name, value, previous } of changes) {
    for (const listener of listeners.get(name) ?? []) {
      try {
        listener(value, previous);
      } catch (error) {
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "A subscriber could not take a changed property");
}

function defaultsOf(service: string, properties: PropertyDeclarations): ValueSource {
  for (const [name, declaration] of Object.entries(properties)) {
    if (declaration.default === null || checkValue(declaration, declaration.default).ok) continue;
    throw new Error(`The default of ${name} in ${service} is not a value the property allows`);
  }
  const entries = Object.entries(properties).map(([name, { default: raw }]) => [name, { raw, origin: "" }] as const);
  return { name: "defaults", entries: new Map(entries), faults: [] };
}

function isSame(one: PropertyScalar, other: PropertyScalar): boolean {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, index) => item === other[index]);
}
