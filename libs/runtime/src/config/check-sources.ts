import { isSecretName, masked } from "@signalbox/core";
import { type Addresses, variableName } from "./addresses.ts";
import { closestName } from "./closest-name.ts";
import type { Problem } from "./configuration.ts";
import { expected } from "./expected.ts";
import { createSanitizer, maskRefused } from "./masking.ts";
import { parseText } from "./parse-value.ts";
import type { PropertyDeclarations, PropertyScalar } from "./property-declaration.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

/** The property with additional names to mask. Read here and by the management view. */
export const sanitizeProperty = "management.endpoint.env.keys-to-sanitize";

/** Lists every fault in the sources, and every missing required property. */
export function checkSources(
  sources: readonly ValueSource[],
  properties: PropertyDeclarations,
  addresses: Addresses,
): Problem[] {
  const problems: Problem[] = [];
  for (const source of sources) {
    for (const fault of source.faults) {
      problems.push({ property: source.name, source: fault.origin, value: "unreadable", expected: fault.expected });
    }
    for (const [address, entry] of source.entries) {
      const problem = checkEntry(address, entry, properties, addresses);
      if (problem) problems.push(problem);
    }
  }
  const given = new Set(sources.flatMap((source) => [...source.entries.keys()]));
  for (const [name, declaration] of Object.entries(properties)) {
    if (declaration.required === undefined || declaration.default !== null) continue;
    if (addresses.of(name).some((address) => given.has(address))) continue;
    const source = "no source";
    problems.push({
      property: name,
      source,
      value: "missing",
      expected: `${expected(declaration)}; ${declaration.required}`,
    });
  }
  return problems;
}

function checkEntry(
  address: string,
  { raw, origin }: SourceEntry,
  properties: PropertyDeclarations,
  addresses: Addresses,
): Problem | null {
  const name = addresses.property(address);
  const declaration = name === undefined ? undefined : properties[name];
  if (name === undefined || declaration === undefined) {
    if (addresses.isForeign(address)) return null;
    return unknownProperty(address, { raw, origin }, properties, addresses);
  }
  const parsed = parseText(declaration, raw);
  if (!parsed.ok) {
    return {
      property: name,
      source: origin,
      value: maskRefused(name, raw, declaration),
      expected: parsed.expected,
    };
  }
  if (name === sanitizeProperty && !canSanitize(parsed.value)) {
    return { property: name, source: origin, value: String(parsed.value), expected: "endings or regular expressions" };
  }
  return null;
}

/**
 * A name that is no property, with the nearest one that is, in the spelling of the place it was found in. The value is shown
 * where that property's would be: a secret may stand behind a misspelt name too.
 */
function unknownProperty(
  address: string,
  { raw, origin }: SourceEntry,
  properties: PropertyDeclarations,
  addresses: Addresses,
): Problem {
  const isVariable = address.startsWith("SIGNALBOX_");
  const spelled = isVariable ? address.slice("SIGNALBOX_".length).toLowerCase().replaceAll("_", ".") : address;
  const closest = closestName(spelled, addresses.all());
  const declaration = closest === undefined ? undefined : properties[addresses.property(closest) ?? ""];
  const value = declaration === undefined || isSecretName(spelled) ? masked : maskRefused(spelled, raw, declaration);
  const meant = closest !== undefined && isVariable ? variableName(closest) : closest;
  const given = value.includes(masked) ? "" : ` with the value ${value}`;
  return {
    property: address,
    source: origin,
    value,
    expected: meant === undefined ? "a known property" : `a known property, such as ${meant}`,
    message: [
      `Unknown property "${address}".`,
      meant === undefined ? "docs/reference/properties.md lists all of them." : `Did you mean "${meant}"?`,
      origin === `--${address}` && given === "" ? "" : `It was given by ${origin}${given}.`,
    ]
      .filter(Boolean)
      .join(" "),
  };
}

function canSanitize(patterns: PropertyScalar): boolean {
  try {
    createSanitizer(patterns as readonly string[]);
    return true;
  } catch {
    return false;
  }
}
