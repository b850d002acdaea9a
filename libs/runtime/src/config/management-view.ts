import type { Addresses } from "./addresses.ts";
import type { PendingValue, PropertyEntry, PropertyLookup, PropertySource } from "./configuration.ts";
import { mask, type ShownClasses } from "./masking.ts";
import { parseText } from "./parse-value.ts";
import type { PropertyDeclarations, PropertyScalar } from "./property-declaration.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

/** The declarations and names that decide about masking. */
export interface View {
  readonly properties: PropertyDeclarations;
  readonly addresses: Addresses;
  readonly isSanitized: (name: string) => boolean;
  readonly shown?: ShownClasses | undefined;
}

/** Lists every source with its values under their original names, masked, and the pending ones. */
export function viewSources(
  sources: readonly ValueSource[],
  view: View,
  pendingAt: (source: string, address: string) => PendingValue | undefined,
): PropertySource[] {
  return sources.map(({ name, entries }) => ({
    name,
    properties: Object.fromEntries(
      [...entries].map(([address, entry]) => {
        const pending = pendingAt(name, address);
        return [address, { ...viewEntry(address, entry, view), ...(pending && { pending }) }];
      }),
    ),
  }));
}

/** Shows one declared property: its effective value, and the entry of each source. */
export function viewProperty(
  property: string,
  sources: readonly ValueSource[],
  view: View,
  pending: PendingValue | undefined,
): PropertyLookup | null {
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
  const { source, entry } = winner;
  return { property: { source, value: entry.value, ...(pending && { pending }) }, propertySources };
}

function viewEntry(address: string, { raw, origin }: SourceEntry, view: View): PropertyEntry {
  const property = view.addresses.property(address);
  const declaration = property === undefined ? undefined : view.properties[property];
  const parsed = declaration === undefined ? undefined : parseText(declaration, raw);
  const value = maskedValue(address, parsed?.ok ? parsed.value : (raw as PropertyScalar), view);
  return origin === "" ? { value } : { value, origin };
}

/** Masks a value written under this name. */
export function maskedValue(address: string, value: PropertyScalar, view: View): PropertyScalar {
  const property = view.addresses.property(address);
  const declaration = property === undefined ? undefined : view.properties[property];
  const isSanitized = (name: string) => view.isSanitized(name) || view.isSanitized(address);
  return mask(property ?? address, value, declaration, isSanitized, view.shown);
}
