/**
 * The paths of members that `given` has and `parsed` lacks: what a schema that strips unknown members has removed.
 * Members whose value is undefined do not count, since JSON cannot carry them.
 */
export function unknownMembers(given: unknown, parsed: unknown, path = ""): string[] {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    return given.flatMap((item, index) => unknownMembers(item, parsed[index], `${path}[${index}]`));
  }
  if (!isPlainObject(given) || !isPlainObject(parsed)) return [];
  return Object.entries(given).flatMap(([name, value]) => {
    const member = path === "" ? name : `${path}.${name}`;
    if (value === undefined) return [];
    return Object.hasOwn(parsed, name) ? unknownMembers(value, parsed[name], member) : [member];
  });
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
