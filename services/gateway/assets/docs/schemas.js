/** Reads schemas and examples of an OpenAPI document. */
const depthMax = 5;

/** Follows a reference inside the document. */
export function resolve(spec, part) {
  if (!part?.$ref) return part;
  const found = part.$ref
    .split("/")
    .slice(1)
    .reduce((node, name) => node?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], spec);
  return { ...found, ...(part.description && { description: part.description }) };
}

/** A description with its marked words as code. */
export function prose(text, element) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part));
}

/** The example of a content, or nothing. */
export function exampleOf(spec, { example, examples = {} }) {
  if (example !== undefined) return example;
  return resolve(spec, Object.values(examples)[0])?.value;
}

/** Lists the members of a schema, each with its type and description. */
export function membersOf(spec, given, element, depth = 0) {
  const { schema, note } = inner(spec, given ?? {});
  const own = element("span", { class: "soft" }, `${typeOf(spec, schema)}${note}${limitsOf(schema)}`);
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0 || depth === depthMax) return own;
  const items = properties.map(([name, member]) => {
    const required = schema.required?.includes(name) ? " required." : "";
    const { description = "" } = resolve(spec, member);
    return element(
      "li",
      {},
      element("code", {}, name),
      `${required} `,
      ...prose(description, element),
      " ",
      membersOf(spec, member, element, depth + 1),
    );
  });
  return element("ul", { class: "members" }, ...items);
}

/** Looks through lists and null for what has members. */
function inner(spec, given, note = "") {
  const schema = resolve(spec, given) ?? {};
  const others = (schema.anyOf ?? schema.oneOf)?.filter((one) => one.type !== "null");
  if (others?.length === 1) return inner(spec, others[0], `${note} or null`);
  const item = schema.items && resolve(spec, schema.items);
  return item?.properties ? inner(spec, item, `${note} list`) : { schema, note };
}

function typeOf(spec, schema) {
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map((one) => typeOf(spec, resolve(spec, one))).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.items) return `list of ${typeOf(spec, resolve(spec, schema.items))}`;
  return [schema.format ?? schema.type ?? "any"].flat().join(" or ");
}

function limitsOf({ minimum, maximum, minLength, maxLength, default: standard }) {
  const limits = [
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    minLength > 1 && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    standard !== undefined && standard !== null && `default ${JSON.stringify(standard)}`,
  ].filter(Boolean);
  return limits.length === 0 ? "" : ` (${limits.join(", ")})`;
}
