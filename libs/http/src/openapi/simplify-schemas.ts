type Schema = Record<string, unknown>;

/**
 * Writes the schemas of a document as readers and generators of clients expect them. Examples are data and stay as they
 * are.
 */
export function simplifySchemas(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    node.forEach(simplifySchemas);
    return;
  }
  const schema = node as Schema;
  for (const [name, child] of Object.entries(schema)) {
    if (name !== "example" && name !== "examples") simplifySchemas(child);
  }
  hoistDescription(schema);
  // A member may be called `default`; then the type is a schema.
  if (typeof (schema.type ?? schema.$ref) === "string") leaveOutWhatDoesNotCompile(schema);
}

/** Moves the description of a value to the schema that also allows null, where readers look for it. */
function hoistDescription(schema: Schema): void {
  const [value, other, ...more] = Array.isArray(schema.anyOf) ? (schema.anyOf as Schema[]) : [];
  if (value?.description === undefined || other?.type !== "null" || more.length > 0) return;
  schema.description ??= value.description;
  delete value.description;
}

/**
 * Removes what openapi-generator makes code from that does not compile: a pattern beside a format, Unicode properties in
 * a pattern (not every dialect has them), an object as a default, a constant that is no text, and an enumeration with a
 * value that gives no name.
 */
function leaveOutWhatDoesNotCompile(schema: Schema): void {
  const { format, pattern, allOf, default: preset, enum: values } = schema;
  // Several patterns of one text stand in `allOf`; any other `allOf` stays.
  const several = Array.isArray(allOf) && allOf.every((one: Schema) => "pattern" in one) ? (allOf as Schema[]) : null;
  const patterns = several?.map((one) => one.pattern) ?? [pattern];
  const [known, ...more] = patterns.filter((one) => typeof one === "string" && !one.includes("\\p{"));
  if (more.length === 0) {
    if (several) delete schema.allOf;
    delete schema.pattern;
    if (known !== undefined && format !== "date-time") schema.pattern = known;
  }
  if (typeof preset === "object" && !Array.isArray(preset)) delete schema.default;
  if (typeof schema.const === "boolean") delete schema.const;
  if (Array.isArray(values) && values.some((value) => typeof value === "string" && value.trim() === ""))
    delete schema.enum;
}
