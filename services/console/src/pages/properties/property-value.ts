import { numberIn } from "../../parts/read-text.ts";
import type { Property } from "../configuration.ts";

type Typed = Pick<Property, "type" | "bounds">;

/** Writes a value into the field in which it is typed. */
export function inputText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join("\n");
  return String(value);
}

/**
 * Reads a typed value by the type of its property. Nothing typed is no value where the property allows none.
 * @throws Error that says what was expected
 */
export function readValue(text: string, { type, bounds }: Typed): unknown {
  const trimmed = text.trim();
  if (trimmed === "" && bounds.nullable) return null;
  switch (type) {
    case "boolean":
      if (trimmed !== "true" && trimmed !== "false") throw new Error("Value: choose true or false.");
      return trimmed === "true";
    case "integer":
    case "number":
      return numberIn(trimmed, "Value");
    case "list":
      return text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    default:
      return text;
  }
}

/** Says in words what values the property takes. */
export function boundsText({ type, bounds }: Typed, unit: string | null): string {
  const { min, max, choices, maxItems, nullable } = bounds;
  const texts = [
    {
      boolean: "true or false",
      list: "one on each line",
      integer: "a whole number",
      number: "a number",
      string: "a text",
    }[type],
    ...(unit ? [`in ${unit}`] : []),
    ...(min !== null ? [`at least ${min}`] : []),
    ...(max !== null ? [`at most ${max}`] : []),
    ...(maxItems !== null ? [`at most ${maxItems} lines`] : []),
    ...(choices ? [`one of ${choices.join(", ")}`] : []),
    ...(nullable ? ["empty for none"] : []),
  ];
  const text = texts.join(", ");
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}
