import type { JsonSchema } from "../documents/json-schema.ts";

/** One way in which a new schema breaks a reader. `path` is the member, as in `focal_point.x`. */
export interface Incompatibility {
  readonly path: string;
  readonly problem: string;
}

/** Keywords that explain and do not constrain: free to change. */
const annotations = new Set(["$id", "$schema", "title", "description", "examples", "example", "default", "deprecated"]);

/** Keywords with rules of their own below. */
const structure = new Set([
  "properties",
  "required",
  "items",
  "enum",
  "anyOf",
  "additionalProperties",
  "propertyNames",
]);

/**
 * Lists the changes from `accepted` to `current` that would break readers. Both directions count, because readers and
 * events of both ages meet: an old reader gets new events, and a new reader gets old events that are still in the log.
 *
 * Free: a new optional member, another text of explanation. Refused: a member removed, retyped, made optional or made
 * required, a new required member, an enum that gains or loses a value, any other constraint that changes.
 */
export function compareSchemas(accepted: JsonSchema, current: JsonSchema, path = ""): Incompatibility[] {
  return [
    ...compareConstraints(accepted, current, path),
    ...compareEnums(accepted, current, path),
    ...compareMembers(accepted, current, path),
    ...compareChildren(accepted, current, path),
  ];
}

function compareConstraints(accepted: JsonSchema, current: JsonSchema, path: string): Incompatibility[] {
  const keywords = new Set([...Object.keys(accepted), ...Object.keys(current)]);
  return [...keywords]
    .filter((keyword) => !annotations.has(keyword) && !structure.has(keyword))
    .filter((keyword) => !same(accepted[keyword], current[keyword]))
    .map((keyword) => ({
      path,
      problem: `${keyword} changed from ${text(accepted[keyword])} to ${text(current[keyword])}`,
    }));
}

function compareEnums(accepted: JsonSchema, current: JsonSchema, path: string): Incompatibility[] {
  const before = accepted.enum as unknown[] | undefined;
  const after = current.enum as unknown[] | undefined;
  if (before === undefined && after === undefined) return [];
  if (before === undefined || after === undefined) return [{ path, problem: "an enum was added or removed" }];
  const gone = before.filter((value) => !after.includes(value));
  const added = after.filter((value) => !before.includes(value));
  return [
    ...gone.map((value) => ({
      path,
      problem: `the enum no longer allows ${text(value)}, which events in the log still contain`,
    })),
    ...added.map((value) => ({ path, problem: `the enum now allows ${text(value)}, which current readers reject` })),
  ];
}

function compareMembers(accepted: JsonSchema, current: JsonSchema, path: string): Incompatibility[] {
  const before = membersOf(accepted);
  const after = membersOf(current);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const member = join(path, name);
    const [old, now] = [before[name], after[name]];
    if (old === undefined) {
      return isRequired(current, name)
        ? [{ path: member, problem: "is new and required: events in the log lack it. Make it optional" }]
        : [];
    }
    if (now === undefined) return [{ path: member, problem: "was removed" }];
    return [...compareRequired(accepted, current, name, member), ...compareSchemas(old, now, member)];
  });
}

function compareRequired(accepted: JsonSchema, current: JsonSchema, name: string, path: string): Incompatibility[] {
  const [before, after] = [isRequired(accepted, name), isRequired(current, name)];
  if (before === after) return [];
  return [
    { path, problem: before ? "became optional: readers rely on it" : "became required: events in the log lack it" },
  ];
}

/** Items, values of records and alternatives, each against its counterpart. */
function compareChildren(accepted: JsonSchema, current: JsonSchema, path: string): Incompatibility[] {
  const single = ["items", "additionalProperties", "propertyNames"].flatMap((keyword) =>
    compareChild(accepted[keyword], current[keyword], join(path, keyword === "items" ? "[]" : "*")),
  );
  const before = (accepted.anyOf ?? []) as JsonSchema[];
  const after = (current.anyOf ?? []) as JsonSchema[];
  if (before.length !== after.length) {
    const alternatives = `${before.map(typeOf).join(" or ") || "one type"} to ${after.map(typeOf).join(" or ") || "one type"}`;
    return [...single, { path, problem: `the alternatives changed from ${alternatives}` }];
  }
  return [...single, ...before.flatMap((option, index) => compareChild(option, after[index], path))];
}

function compareChild(before: unknown, after: unknown, path: string): Incompatibility[] {
  if (isSchema(before) && isSchema(after)) return compareSchemas(before, after, path);
  return same(before, after) ? [] : [{ path, problem: `changed from ${text(before)} to ${text(after)}` }];
}

const membersOf = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, JsonSchema>;
const isRequired = (schema: JsonSchema, name: string) => ((schema.required ?? []) as string[]).includes(name);
const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;
const typeOf = (schema: JsonSchema) => String(schema.type ?? "any");
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const text = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value));
const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);
