import { z } from "zod";

/**
 * The path of the first object in a schema that would silently drop members it does not know, or null. Such a schema
 * cannot tell a client that a member was misspelt.
 */
export function looseMember(schema: z.core.$ZodType, path = "", seen = new Set<z.core.$ZodType>()): string | null {
  if (seen.has(schema)) return null;
  seen.add(schema);
  if (schema instanceof z.ZodObject) {
    if (schema.def.catchall === undefined) return path;
    return firstLoose(Object.entries(schema.shape), path, seen);
  }
  return firstLoose(
    children(schema).map((child) => ["", child] as const),
    path,
    seen,
  );
}

function firstLoose(
  members: readonly (readonly [string, z.core.$ZodType])[],
  path: string,
  seen: Set<z.core.$ZodType>,
): string | null {
  for (const [name, member] of members) {
    const found = looseMember(member, [path, name].filter(Boolean).join("."), seen);
    if (found !== null) return found;
  }
  return null;
}

function children(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const def = schema._zod.def as unknown as Record<string, unknown>;
  const inner = [def.innerType, def.element, def.valueType, def.left, def.right, def.in];
  const options = Array.isArray(def.options) ? def.options : [];
  return [...inner, ...options].filter((child) => child instanceof z.core.$ZodType);
}
