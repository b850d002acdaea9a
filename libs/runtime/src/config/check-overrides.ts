import type { Addresses } from "./addresses.ts";
import type { OverrideSet, Problem } from "./configuration.ts";
import { maskRefused } from "./masking.ts";
import { checkValue } from "./parse-value.ts";
import type { PropertyDeclaration, PropertyDeclarations, PropertyScalar } from "./property-declaration.ts";
import type { SourceEntry } from "./value-source.ts";

/**
 * Sorts database overrides into applied and refused ones. Names of other services are neither: the same set of
 * overrides reaches every service.
 */
export function checkOverrides(
  overrides: OverrideSet,
  properties: PropertyDeclarations,
  addresses: Addresses,
): { entries: Map<string, SourceEntry>; problems: Problem[] } {
  const entries = new Map<string, SourceEntry>();
  const problems: Problem[] = [];
  for (const [address, { set, value: raw, revision }] of Object.entries(overrides.changes)) {
    if (!set) continue;
    const property = addresses.property(address);
    const declaration = property === undefined ? undefined : properties[property];
    if (property === undefined || declaration === undefined) continue;
    const refusal = refusalOfOverride(declaration, raw);
    if (refusal === null) entries.set(address, { raw, origin: `revision ${revision}` });
    else {
      const value = maskRefused(property, raw, declaration);
      problems.push({ property, source: "overrides", value, expected: refusal });
    }
  }
  return { entries, problems };
}

/** Describes the values accepted instead of this override; null when it would apply. */
export function refusalOfOverride(declaration: PropertyDeclaration, raw: unknown): string | null {
  if (declaration.secrecy === "secret") return "no override, because it is a secret";
  if (declaration.local) return "no override, because it is local to the process";
  const checked = checkValue(declaration, raw);
  if (!checked.ok) return checked.expected;
  const { overrideChoices } = declaration;
  if (overrideChoices === undefined || overrideChoices.some((choice) => choice === raw)) return null;
  return `one of: ${overrideChoices.join(", ")}, when it is an override`;
}

/** A rule between two properties that their values break. */
export interface BrokenRule {
  readonly property: string;
  /** The other property of the rule. */
  readonly other: string;
  readonly expected: string;
}

/**
 * Finds the rules between properties (`atMost`, `oneOf`) that these values break. A rule with an undeclared side is
 * ignored.
 */
export function brokenRules(properties: PropertyDeclarations, read: (name: string) => PropertyScalar): BrokenRule[] {
  return Object.entries(properties).flatMap(([property, { atMost, oneOf }]) => {
    const broken: BrokenRule[] = [];
    if (atMost !== undefined && atMost in properties) {
      const [value, bound] = [read(property), read(atMost)];
      const holds = value === null || bound === null || (value as number) <= (bound as number);
      if (!holds) broken.push({ property, other: atMost, expected: `at most ${atMost}, which is ${bound}` });
    }
    if (oneOf !== undefined && oneOf in properties) {
      const [value, items] = [read(property), read(oneOf)];
      const holds = value === null || !Array.isArray(items) || items.includes(value as string);
      if (!holds) broken.push({ property, other: oneOf, expected: `one of ${oneOf}: ${items.join(", ")}` });
    }
    return broken;
  });
}
