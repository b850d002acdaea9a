import type { Addresses } from "./addresses.ts";
import { type BrokenRule, brokenRules, checkOverrides } from "./check-overrides.ts";
import {
  type Configuration,
  ConfigurationError,
  type OverrideSet,
  type PendingValue,
  type Problem,
  type PropertyLookup,
  type PropertySource,
  type RunningValue,
} from "./configuration.ts";
import { maskedValue, type View, viewProperty, viewSources } from "./management-view.ts";
import { createSanitizer, maskRefused, type ShownClasses } from "./masking.ts";
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
}

type Listener = (value: PropertyScalar, previous: PropertyScalar) => void;

/** The running value of a property, and its source. */
interface Running {
  readonly value: PropertyScalar;
  readonly source: string;
  readonly address: string;
}

/** The property with additional names to mask. */
const sanitizeProperty = "management.endpoint.env.keys-to-sanitize";

const noOverrides: ValueSource = { name: "overrides", entries: new Map(), faults: [] };

/** Combines checked sources into values, and keeps the live ones current. */
export function createConfiguration<P extends PropertyDeclarations>(parts: Parts<P>): Configuration<P> {
  return new JoinedSources(parts);
}

class JoinedSources<P extends PropertyDeclarations> implements Configuration<P> {
  readonly #parts: Parts<P>;
  readonly #names: readonly string[];
  readonly #defaults: ValueSource;
  readonly #running: Map<string, Running>;
  /** Properties that were read and no longer change. */
  readonly #settled = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #view: View;
  #overrides = noOverrides;
  #overridesInForce: ReadonlyMap<string, SourceEntry> = noOverrides.entries;
  #given: OverrideSet = { revision: 0, changes: {} };
  #revision: number | null = null;

  constructor(parts: Parts<P>) {
    const { service, properties, addresses } = parts;
    this.#parts = parts;
    this.#names = Object.keys(properties);
    this.#defaults = defaultsOf(service, properties);
    this.#running = new Map(this.#names.map((name) => [name, this.#resolve(name)]));
    const isSanitized = createSanitizer((this.#running.get(sanitizeProperty)?.value ?? []) as readonly string[]);
    this.#view = { properties, addresses, isSanitized };
    const problems = brokenRules(properties, (name) => this.#runningOf(name).value).map((rule) =>
      this.#problemOf(rule),
    );
    if (problems.length > 0) throw new ConfigurationError(problems);
  }

  get service(): string {
    return this.#parts.service;
  }

  get revision(): number | null {
    return this.#revision;
  }

  get<N extends keyof P & string>(name: N): PropertyValues<P>[N] {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`The property ${name} is not declared by ${this.service}`);
    if (!this.#isLive(name)) this.#settled.add(name);
    return running.value as PropertyValues<P>[N];
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
    return this.#runningOf(name).source;
  }

  knows(name: string): boolean {
    return this.#parts.addresses.property(name) !== undefined;
  }

  propertySources(shown?: ShownClasses): PropertySource[] {
    const view = { ...this.#view, shown };
    const pending = new Map(this.pendingRestart().map((name) => [this.#placeOf(name), this.#pendingOf(name, view)]));
    return viewSources(this.#runningSources(), view, (source, address) => pending.get(`${source} ${address}`));
  }

  find(name: string, shown?: ShownClasses): PropertyLookup | null {
    const view = { ...this.#view, shown };
    const property = this.#parts.addresses.property(name);
    if (property === undefined) return null;
    const isPending = this.pendingRestart().includes(property);
    const pending = isPending ? this.#pendingOf(property, view) : undefined;
    return viewProperty(property, this.#runningSources(), view, pending);
  }

  runningValues(): Readonly<Record<string, RunningValue>> {
    const waiting = new Set(this.pendingRestart());
    return Object.fromEntries(
      this.#names.map((name) => {
        const { value, source, address } = this.#runningOf(name);
        const pending = waiting.has(name) ? { pending: this.#pendingOf(name, this.#view) } : {};
        return [name, { value: maskedValue(address, value, this.#view), source, ...pending }];
      }),
    );
  }

  startWith(overrides: OverrideSet): Problem[] {
    const problems = this.#putOverrides(overrides);
    this.#change((name) => this.#isLive(name) || !this.#settled.has(name));
    for (const name of this.#names) if (!this.#isLive(name)) this.#settled.add(name);
    return problems;
  }

  setOverrides(overrides: OverrideSet): Problem[] {
    const problems = this.#putOverrides(overrides);
    this.#change((name) => this.#isLive(name));
    return problems;
  }

  pendingRestart(): string[] {
    return this.#names.filter((name) => !isSame(this.#runningOf(name).value, this.#resolve(name).value));
  }

  #isLive(name: string): boolean {
    return this.#parts.properties[name]?.reload === "live";
  }

  #runningOf(name: string): Running {
    return this.#running.get(name) as Running;
  }

  #placeOf(name: string): string {
    const { source, address } = this.#runningOf(name);
    return `${source} ${address}`;
  }

  #pendingOf(name: string, view: View): PendingValue {
    const changes = this.#parts.addresses.of(name).flatMap((address) => this.#given.changes[address] ?? []);
    const { address, value } = this.#resolve(name);
    const newest = changes.length > 0 ? Math.max(...changes.map(({ revision }) => revision)) : this.#given.revision;
    return { value: maskedValue(address, value, view), revision: newest };
  }

  #sources(overrides = this.#overrides): ValueSource[] {
    return [...this.#parts.aboveOverrides, overrides, ...this.#parts.belowOverrides, this.#defaults];
  }

  /** Returns the sources with the overrides active here, without those that wait for the next start. */
  #runningSources(): ValueSource[] {
    return this.#sources({ ...noOverrides, entries: this.#overridesInForce });
  }

  /** Finds the effective entry: a prefixed address beats a source with higher precedence. */
  #winner(name: string): { source: ValueSource; address: string; entry: SourceEntry } {
    const sources = this.#sources();
    for (const address of this.#parts.addresses.of(name)) {
      for (const source of sources) {
        const entry = source.entries.get(address);
        if (entry) return { source, address, entry };
      }
    }
    throw new Error(`The property ${name} is not declared`);
  }

  #resolve(name: string): Running {
    const { source, address, entry } = this.#winner(name);
    const declaration = this.#parts.properties[name] as PropertyDeclaration;
    const isTyped = source === this.#overrides || source === this.#defaults;
    const parsed = isTyped ? checkValue(declaration, entry.raw) : parseText(declaration, entry.raw);
    if (!parsed.ok) throw new Error(`The property ${name} has an unchecked value`);
    return { value: parsed.value, source: source.name, address };
  }

  /** Updates the changeable properties from the sources. */
  #change(mayChange: (name: string) => boolean): void {
    const { addresses } = this.#parts;
    const changes = this.#names.filter(mayChange).map((name) => {
      const previous = this.#runningOf(name).value;
      const running = this.#resolve(name);
      this.#running.set(name, running);
      return { name, previous, value: running.value };
    });
    const changing = new Set(changes.map(({ name }) => name));
    const isChanging = (address: string) => changing.has(addresses.property(address) as string);
    this.#overridesInForce = new Map([
      ...[...this.#overridesInForce].filter(([address]) => !isChanging(address)),
      ...[...this.#overrides.entries].filter(([address]) => isChanging(address)),
    ]);
    notify(
      changes.filter(({ previous, value }) => !isSame(previous, value)),
      this.#listeners,
    );
  }

  #putOverrides(given: OverrideSet): Problem[] {
    const { properties, addresses } = this.#parts;
    const { entries, problems } = checkOverrides(given, properties, addresses);
    this.#overrides = { ...noOverrides, entries };
    this.#given = given;
    this.#revision = given.revision;
    for (let rule = this.#nextBroken(); rule !== undefined; rule = this.#nextBroken()) {
      // The newest of them broke the rule; the state before it was valid.
      const [address] = [rule.property, rule.other]
        .flatMap((name) => addresses.of(name).filter((candidate) => entries.has(candidate)))
        .sort((a, b) => (given.changes[b]?.revision ?? 0) - (given.changes[a]?.revision ?? 0));
      if (address === undefined) break;
      const isOwn = addresses.property(address) === rule.property;
      const expected = isOwn ? rule.expected : `a value that keeps ${rule.property} ${rule.expected}`;
      problems.push({ ...this.#problemOf(rule), property: address, source: "overrides", expected });
      entries.delete(address);
    }
    return problems;
  }

  #nextBroken(): BrokenRule | undefined {
    return brokenRules(this.#parts.properties, (name) => this.#resolve(name).value).at(0);
  }

  #problemOf({ property, expected }: BrokenRule): Problem {
    const { source, address, entry } = this.#winner(property);
    const value = maskRefused(property, this.#resolve(property).value, this.#parts.properties[property] as never);
    return { property: address, source: entry.origin || source.name, value, expected };
  }
}

/** Notifies every listener of every change, also when another one throws. */
function notify(
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
  if (errors.length > 0) throw new AggregateError(errors, "A subscriber failed to apply a changed property");
}

function defaultsOf(service: string, properties: PropertyDeclarations): ValueSource {
  for (const [name, declaration] of Object.entries(properties)) {
    if (declaration.default === null || checkValue(declaration, declaration.default).ok) continue;
    throw new Error(`The default of ${name} in ${service} is not an allowed value`);
  }
  const entries = Object.entries(properties).map(([name, { default: raw }]) => [name, { raw, origin: "" }] as const);
  return { name: "defaults", entries: new Map(entries), faults: [] };
}

function isSame(one: PropertyScalar, other: PropertyScalar): boolean {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, index) => item === other[index]);
}
