import { stringify } from "yaml";

/** Go reads YAML 1.1, where `off` is false unless it is quoted. */
export const yamlOptions = { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 } as const;

/**
 * Writes manifests as a template of Helm. A text that begins with `{{` is an expression and stands without quotes; a key
 * `{{with …}}name` is there only where the expression has a value, which is the dot of its own expression.
 */
export function templateOf(manifests: readonly object[]): string {
  return manifests.map((manifest) => `---\n${templateLines(inNamespace(manifest))}\n`).join("");
}

/** A part of a template that is there under a condition. */
export const when = (condition: string, text: string): string => `{{- if ${condition} }}\n${text}{{- end }}\n`;

/** A part of a template that is there for each entry of a map, with its name and value as `$name` and `$service`. */
export const forEachService = (text: string): string =>
  `{{- range $name, $service := .Values.services }}\n${text}{{- end }}\n`;

function inNamespace(manifest: object): object {
  const { metadata, ...rest } = manifest as { readonly metadata: { readonly name: string } };
  const { name, ...more } = metadata;
  const { apiVersion, kind, ...others } = rest as unknown as Record<string, unknown>;
  return { apiVersion, kind, metadata: { name, namespace: "{{ $.Release.Namespace }}", ...more }, ...others };
}

function templateLines(manifest: object): string {
  return stringify(manifest, yamlOptions)
    .trimEnd()
    .split("\n")
    .map((line) => conditional(line.replace(quoted, (_, single?: string, double?: string) => unquoted(single, double))))
    .join("\n");
}

/** A scalar or a key that is an expression of Helm, in the quotes that YAML wants for it. */
const quoted = /'(\{\{(?:[^']|'')*)'(?=:|$)|("\{\{(?:[^"\\]|\\.)*")(?=:|$)/g;

const unquoted = (single?: string, double?: string): string =>
  single === undefined ? JSON.parse(double ?? '""') : single.replaceAll("''", "'");

function conditional(line: string): string {
  const { indent, condition, rest } =
    /^(?<indent> *)\{\{with (?<condition>[^}]+)\}\}(?<rest>.*)$/.exec(line)?.groups ?? {};
  if (condition === undefined) return line;
  return `${indent}{{- with ${condition} }}\n${indent}${rest}\n${indent}{{- end }}`;
}
