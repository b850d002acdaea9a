import type { Addresses } from "./addresses.ts";
import { checkOverrides } from "./check-overrides.ts";
import { sanitizeProperty } from "./check-sources.ts";
import type { Configuration, Problem } from "./configuration.ts";
import { findProperty, viewSources } from "./management-view.ts";
import { createSanitizer } from "./mask.ts";
import { checkValue, parseText } from "./parse-value.ts";
import type {
  PropertyDeclaration,
  PropertyDeclarations,
  PropertyScalar,
  PropertyValues,
} from "./property-declaration.ts";
import type { Source } from "./source.ts";

interface Parts<P> {
  readonly service: string;
  readonly properties: P;
  readonly addresses: Addresses;
  readonly aboveOverrides: readonly Source[];
  readonly belowOverrides: readonly Source[];
  readonly overrides?: { readonly values: Readonly<Record<string, unknown>>; readonly revision: string } | undefined;
}

type Listener = (value: PropertyScalar, previous: PropertyScalar) => void;

/** Joins checked sources into values, and keeps the live ones current. */
export function createConfiguration<P extends PropertyDeclarations>(parts: Parts<P>): Configuration<P> {
  const { service, properties, addresses } = parts;
  const defaults = defaultsOf(service, properties);
  const names = Object.keys(properties);
  const listeners = new Map<string, Set<Listener>>();
  let overrides: Source = { name: "overrides", entries: new Map(), faults: [] };
  let revision: string | null = null;

  const sources = () => [...parts.aboveOverrides, overrides, ...parts.belowOverrides, defaults];
  const declarationOf = (name: string) => properties[name] as PropertyDeclaration;

  const winner = (name: string) => {
    for (const address of addresses.of(name)) {
      for (const source of sources()) {
        const entry = source.entries.get(address);
        if (entry) return { source, entry };
      }
    }
    throw new Error(`The property ${name} is not declared`);
  };
  const resolve = (name: string): PropertyScalar => {
    const { source, entry } = winner(name);
    const isTyped = source === overrides || source === defaults;
    const parsed = isTyped ? checkValue(declarationOf(name), entry.raw) : parseText(declarationOf(name), entry.raw);
    if (!parsed.ok) throw new Error(`The property ${name} has a value that was not checked`);
    return parsed.value;
  };
  const put = (given: Readonly<Record<string, unknown>>, newRevision: string): Problem[] => {
    const checked = checkOverrides(given, newRevision, properties, addresses);
    overrides = { name: "overrides", entries: checked.entries, faults: [] };
    revision = newRevision;
    return checked.problems;
  };

  if (parts.overrides) put(parts.overrides.values, parts.overrides.revision);
  const values = new Map(names.map((name) => [name, resolve(name)]));
  const sourceAtStart = new Map(names.map((name) => [name, winner(name).source.name]));
  const isSanitized = createSanitizer((values.get(sanitizeProperty) ?? []) as readonly string[]);
  const view = { properties, addresses, isSanitized };

  return {
    service,
    get: (name) => {
      const value = values.get(name);
      if (value === undefined) throw new Error(`The property ${name} is not declared by ${service}`);
      return value as PropertyValues<P>[typeof name];
    },
    onChange: (name, listener) => {
      if (declarationOf(name)?.reload !== "live") throw new Error(`The property ${name} does not change while running`);
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener as Listener));
      return () => set.delete(listener as Listener);
    },
    sourceOf: (name) =>
      declarationOf(name).reload === "live" ? winner(name).source.name : (sourceAtStart.get(name) as string),
    knows: (name) => addresses.property(name) !== undefined,
    propertySources: () => viewSources(sources(), view),
    find: (name) => findProperty(name, sources(), view),
    setOverrides: (given, newRevision) => {
      const problems = put(given, newRevision);
      const changes = names
        .filter((name) => declarationOf(name).reload === "live")
        .map((name) => ({ name, previous: values.get(name) as PropertyScalar, value: resolve(name) }))
        .filter(({ previous, value }) => !isSame(previous, value));
      for (const { name, value } of changes) values.set(name, value);
      tell(changes, listeners);
      return problems;
    },
    get revision() {
      return revision;
    },
    pendingRestart: () => names.filter((name) => !isSame(values.get(name) as PropertyScalar, resolve(name))),
  };
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

function defaultsOf(service: string, properties: PropertyDeclarations): Source {
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
