import { isSecretName, masked } from "@signalbox/core";
import { type Addresses, variableName } from "./addresses.ts";
import type { Problem } from "./configuration.ts";
import { maskRefused } from "./masking.ts";
import { expected, parseText } from "./parse-value.ts";
import type { PropertyDeclarations } from "./property-declaration.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

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

/**
 * Finds the known name that was meant by a misspelt one: one that only has more parts (`management.server.port` for
 * `management.port`), or else the one that differs in the fewest letters. `undefined` when none is near enough.
 */
function closestName(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  return withMoreParts(name, names) ?? withFewestEdits(name, names);
}

/** The shortest name that has all parts of this one in their order, when there is only one. A single part means too much. */
function withMoreParts(name: string, known: readonly string[]): string | undefined {
  const parts = name.toLowerCase().split(".");
  if (parts.length < 2) return undefined;
  const found = known.filter((candidate) => {
    const others = candidate.toLowerCase().split(".");
    let next = 0;
    return parts.every((part) => {
      next = others.indexOf(part, next) + 1;
      return next > 0;
    });
  });
  const length = (candidate: string) => candidate.split(".").length;
  const shortest = Math.min(...found.map(length));
  const best = found.filter((candidate) => length(candidate) === shortest);
  return best.length === 1 ? best[0] : undefined;
}

function withFewestEdits(name: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) {
      closest = candidate;
      fewest = edits;
    }
  }
  return closest;
}

/** Computes Levenshtein's distance, one row at a time. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
