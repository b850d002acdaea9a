import type { PropertyDeclarations, PropertyScalar } from "./property-declaration.ts";

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
