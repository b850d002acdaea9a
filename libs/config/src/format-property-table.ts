import type { PropertyDeclaration, PropertyDeclarations } from "./property-declaration.ts";

/** Formats the declarations as a Markdown table, sorted by name, for READMEs. */
export function formatPropertyTable(properties: PropertyDeclarations): string {
  const rows = Object.entries(properties)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, declaration]) => row(name, declaration));
  return ["| property | type | default | secrecy | change | effect |", "|---|---|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}

function row(name: string, declaration: PropertyDeclaration): string {
  const change = declaration.local ? `${declaration.reload}, local` : declaration.reload;
  const cells = [
    `\`${name}\``,
    typeOf(declaration),
    defaultOf(declaration),
    declaration.secrecy,
    change,
    declaration.effect,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function typeOf({ type, unit, min, max, choices }: PropertyDeclaration): string {
  const range = min === undefined && max === undefined ? "" : ` ${min ?? ""}…${max ?? ""}`;
  return [type, unit, choices?.join(", ")].filter((part) => part !== undefined).join(", ") + range;
}

function defaultOf({ default: value, required, secrecy }: PropertyDeclaration): string {
  if (value === null) return required === undefined ? "none" : `required: ${required}`;
  if (secrecy === "secret") return "set";
  return Array.isArray(value) ? `\`${value.join(",")}\`` : `\`${value}\``;
}
