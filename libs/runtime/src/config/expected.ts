import type { PropertyDeclaration } from "./property-declaration.ts";

/** Describes the accepted values of a property, for the operator who has to write one. */
export function expected(declaration: PropertyDeclaration): string {
  const kind = {
    string: "a text",
    integer: "an integer",
    number: "a number",
    boolean: "true or false",
    list: "a list",
  };
  const parts: string[] = [kind[declaration.type]];
  if (declaration.choices) {
    const choices = declaration.choices.join(", ");
    parts.splice(0, 1, declaration.type === "list" ? `a list of: ${choices}` : `one of: ${choices}`);
  }
  if (declaration.unit !== undefined) parts.push(`in ${declaration.unit}`);
  if (declaration.min !== undefined && declaration.max !== undefined) {
    parts.push(`from ${declaration.min} to ${declaration.max}`);
  } else if (declaration.min !== undefined) parts.push(`of at least ${declaration.min}`);
  else if (declaration.max !== undefined) parts.push(`of at most ${declaration.max}`);
  if (declaration.pattern !== undefined) parts.push(`that matches ${declaration.pattern}`);
  return parts.join(" ");
}
