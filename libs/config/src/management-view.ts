import type { Addresses } from "./addresses.ts";
import type { PropertyEntry, PropertyLookup, PropertySource } from "./configuration.ts";
import { mask } from "./mask.ts";
import { parseText } from "./parse-value.ts";
import type { PropertyDeclarations, PropertyScalar } from "./property-declaration.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

/** The declarations and names that decide how a value is shown. */
export interface View {
  readonly properties: PropertyDeclarations;
  readonly addresses: Addresses;
  readonly isSanitized: (name: string) => boolean;
}

/** Shows every source with its values under the names they were written with, masked. */
export function viewSources(sources: readonly ValueSource[], view: View): PropertySource[] {
  return sources.map(({ name, entries }) => ({
    name,
    properties: Object.fromEntries([...entries].map(([address, entry]) => [address, viewEntry(address, entry, view)])),
  }));
}

/** Shows one property: its winner, and per source the entry that source would give. */
export function viewProperty(name: string, sources: readonly ValueSource[], view: View): PropertyLookup | null {
  const property = view.addresses.property(name);
  if (property === undefined) return null;
  const found: { source: string; address: string; entry: PropertyEntry }[] = [];
  const propertySources = sources.map((source) => {
    const address = view.addresses.of(property).find((candidate) => source.entries.has(candidate));
    if (address === undefined) return { name: source.name };
    const entry = viewEntry(address, source.entries.get(address) as SourceEntry, view);
    found.push({ source: source.name, address, entry });
    return { name: source.name, property: entry };
  });
  const winner = view.addresses
    .of(property)
    .flatMap((address) => found.filter((candidate) => candidate.address === address))
    .at(0);
  if (winner === undefined) return null;
  return { property: { source: winner.source, value: winner.entry.value }, propertySources };
}

function viewEntry(address: string, { raw, origin }: SourceEntry, view: View): PropertyEntry {
  const property = view.addresses.property(address);
  const declaration = property === undefined ? undefined : view.properties[property];
  const isSanitized = (name: string) => view.isSanitized(name) || view.isSanitized(address);
  const parsed = declaration === undefined ? undefined : parseText(declaration, raw);
  const typed = parsed?.ok ? parsed.value : (raw as PropertyScalar);
  const value = mask(property ?? address, typed, declaration, isSanitized);
  return origin === "" ? { value } : { value, origin };
}
