import { publishedProperties } from "@signalbox/contracts";
import { checkValue, type PropertyDeclaration } from "@signalbox/runtime";

type PublishedName = keyof typeof publishedProperties;
type Value = string | number | boolean | readonly string[];

/** The published properties of an instance by name. */
export type PublishedValues = Readonly<Partial<Record<string, unknown>>>;

/**
 * Computes the values that clients may rely on when instances disagree, as they do while a change rolls out: the
 * smallest limit, a capability only when every instance has it, a feature only in the state that all agree on, and the
 * common items of every list. `own` decides alone what no other instance reports.
 */
export function strictest(own: PublishedValues, reports: readonly PublishedValues[]): Record<PublishedName, Value> {
  const names = Object.keys(publishedProperties) as PublishedName[];
  const each = Object.fromEntries(
    names.map((name) => {
      const values = [own, ...reports].map((report) => report[name]).filter((value) => isPublishable(name, value));
      return [name, strictestOf(name, values as Value[])];
    }),
  ) as Record<PublishedName, Value>;
  return Object.fromEntries(names.map((name) => [name, withinRules(name, each)])) as Record<PublishedName, Value>;
}

/** Instances of other versions may run with a value that this one cannot show; more than it serves is no fault. */
function isPublishable(name: PublishedName, value: unknown): boolean {
  const { fixed: _, ...declaration } = publishedProperties[name] as PropertyDeclaration;
  return checkValue(declaration as PropertyDeclaration, value).ok;
}

/** Enforces the rules between properties, which the strictest of each may break although every instance keeps them. */
function withinRules(name: PublishedName, values: Readonly<Record<string, Value>>): Value {
  const { atMost, oneOf } = publishedProperties[name] as { readonly atMost?: string; readonly oneOf?: string };
  const value = values[name] as Value;
  if (atMost !== undefined) return Math.min(value as number, values[atMost] as number);
  const items = oneOf === undefined ? [] : (values[oneOf] as readonly string[]);
  return items.length === 0 || items.includes(value as string) ? value : (items[0] as string);
}

/** Lists the published names with different values among the instances. */
export function disagreements(own: PublishedValues, reports: readonly PublishedValues[]): string[] {
  return Object.keys(publishedProperties).filter((name) => {
    const texts = [own, ...reports].map((report) => JSON.stringify(report[name])).filter((text) => text !== undefined);
    return new Set(texts).size > 1;
  });
}

function strictestOf(name: PublishedName, values: readonly Value[]): Value {
  const [first] = values;
  if (first === undefined) return publishedProperties[name].default;
  if (values.every((value) => JSON.stringify(value) === JSON.stringify(first))) return first;
  if (typeof first === "number") return Math.min(...(values as number[]));
  if (typeof first === "boolean") return values.every((value) => value === true);
  if (Array.isArray(first)) {
    const common = first.filter((item) => values.every((value) => (value as string[]).includes(item)));
    return common.length > 0 ? common : first;
  }
  return name.startsWith("features.") ? "disabled" : first;
}
