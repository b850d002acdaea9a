type Schema = Readonly<Record<string, unknown>>;

/** A schema that refers to itself ends here. */
const depthMax = 8;
const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T09:00:00Z",
  date: "2026-01-31",
  time: "09:00:00Z",
  email: "ada@example.org",
  uri: "https://example.org/",
  uuid: "019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11",
};

/**
 * Makes a value that fits a JSON Schema: its own example or default, or one made from its types and bounds. Patterns and rules
 * between members are left to the service, which judges the event.
 */
export function sampleOf(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > depthMax) return {};
  const given = schema as Schema;
  const deeper = (inner: unknown) => sampleOf(inner, root, depth + 1);
  const [example] = listOf(given.examples);
  const chosen = [given.const, example, given.example, given.default, listOf(given.enum)[0]].find(
    (value) => value !== undefined,
  );
  if (chosen !== undefined) return chosen;
  if (typeof given.$ref === "string") return deeper(referred(root, given.$ref));
  const [choice] = [...listOf(given.anyOf), ...listOf(given.oneOf)];
  if (choice !== undefined) return deeper({ ...given, anyOf: undefined, oneOf: undefined, ...(choice as Schema) });
  const parts = listOf(given.allOf).map(deeper);
  if (parts.length > 0) return Object.assign({}, ...parts, deeper({ ...given, allOf: undefined }));
  return typedSample(given, deeper);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function typedSample(schema: Schema, deeper: (inner: unknown) => unknown): unknown {
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: Math.min(Number(schema.minItems ?? 1), 10) }, () => deeper(schema.items ?? {}));
    default:
      return objectOf(schema, deeper);
  }
}

function textOf({ format, minLength = 0, maxLength = 1_000 }: Schema): string {
  const text = formats[String(format)] ?? "text";
  return text.padEnd(Math.min(Number(minLength), 1_000), "x").slice(0, Number(maxLength));
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf = 1 }: Schema): number {
  const least = exclusiveMinimum === undefined ? Number(minimum ?? 1) : Number(exclusiveMinimum) + Number(multipleOf);
  const step = Number(multipleOf);
  const value = Math.ceil(least / step) * step;
  return maximum === undefined ? value : Math.min(value, Number(maximum));
}

function objectOf({ properties, required }: Schema, deeper: (inner: unknown) => unknown): unknown {
  const known = (typeof properties === "object" && properties !== null ? properties : {}) as Schema;
  const names = new Set([...Object.keys(known), ...listOf(required).map(String)]);
  // A member named __proto__ stays a member.
  return Object.fromEntries(
    [...names].map((name) => [name, Object.hasOwn(known, name) ? deeper(known[name]) : "text"]),
  );
}

/** Follows a reference into the same schema; `{}` for any other. */
function referred(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return reference === "#" ? root : {};
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return {};
    found = (found as Schema)[name];
  }
  return found;
}
