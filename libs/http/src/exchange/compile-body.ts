import type { Principal } from "@signalbox/auth";
import { z } from "zod";
import type { RawPlace } from "../request/json-scan.ts";
import type { BodyForms, BodySpec, ByteLimit, Route } from "../routes/route-spec.ts";

/** A body declaration in compiled form. */
export interface CompiledBody {
  readonly kind: "json" | "multipart" | "raw" | "unread";
  readonly schema: z.ZodType | null;
  /** Accepted media types; empty for any type. */
  readonly mediaTypes: readonly string[];
  /** True when every member has a default or is optional. */
  readonly mayBeLeftOut: boolean;
  /** Returns the schema for one caller. */
  readonly forCaller: ((principal: Principal) => Promise<z.ZodType>) | null;
  /** Other forms with the same output. */
  readonly forms: BodyForms | null;
  /** JSON in the body that is carried as it was written. */
  readonly raw: RawPlace | null;
  /** The limit in bytes; null for `limits.maxRequestBytes`. */
  readonly maxBytes: ByteLimit | null;
  /** True for a file, which may take long as long as it makes progress. */
  readonly takesFiles: boolean;
  /** Members of the resource that clients must not send. */
  readonly readOnly: ReadonlySet<string>;
}

/** Compiles a body declaration. @throws Error when an object of the schema would silently drop unknown members. */
export function compileBody({ method, path, spec }: Route): CompiledBody | null {
  const declared = spec.body as BodySpec | undefined;
  if (declared === undefined) return null;
  const body = declared instanceof z.ZodType ? { json: declared } : declared;
  const schema = "json" in body && body.json ? body.json : null;
  const loose = schema && looseMember(schema);
  if (typeof loose === "string") {
    throw new Error(`${method} ${path}: the body's ${loose || "object"} must be z.strictObject or z.looseObject`);
  }
  return {
    kind: kindOf(body),
    schema,
    mayBeLeftOut: !("multipart" in body) && allMembersMayBeLeftOut(schema),
    forCaller: ("forCaller" in body && body.forCaller) || null,
    mediaTypes: mediaTypesOf(body),
    forms: ("forms" in body && body.forms) || null,
    raw: "rawMember" in body && body.rawMember !== undefined ? { member: body.rawMember } : null,
    maxBytes: maxBytesOf(body),
    takesFiles: "multipart" in body || ("unread" in body && body.unread.isFile === true),
    readOnly: readOnlyMembers(schema, spec.responses[200] ?? spec.responses[201]),
  };
}

type DeclaredBody = Exclude<BodySpec, z.ZodType>;

function kindOf(body: DeclaredBody): CompiledBody["kind"] {
  if ("unread" in body) return "unread";
  if ("raw" in body) return "raw";
  return "multipart" in body ? "multipart" : "json";
}

function maxBytesOf(body: DeclaredBody): ByteLimit | null {
  if ("unread" in body) return body.unread.maxBytes;
  return ("raw" in body ? body.raw.maxBytes : body.maxBytes) ?? null;
}

/** Returns true when every member may be absent. Also used by the documentation. */
export function allMembersMayBeLeftOut(schema: z.ZodType | null | undefined): boolean {
  return (
    schema instanceof z.ZodObject && Object.values(schema.shape).every((member) => member._zod.optin !== undefined)
  );
}

function mediaTypesOf(body: DeclaredBody): string[] {
  if ("unread" in body) return [...(body.unread.mediaTypes ?? [])];
  if ("raw" in body) return body.raw.json ? ["application/json"] : [...(body.raw.mediaTypes ?? [])];
  if ("multipart" in body) return body.json ? ["multipart/form-data", "application/json"] : ["multipart/form-data"];
  if (body.mergePatch) return ["application/merge-patch+json", "application/json"];
  return ["application/json", ...Object.keys(body.forms?.mediaTypes ?? {})];
}

function readOnlyMembers(schema: z.ZodType | null, response: unknown): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject) || !(response instanceof z.ZodObject)) return new Set();
  return new Set(Object.keys(response.shape).filter((name) => !Object.hasOwn(schema.shape, name)));
}

/**
 * Finds the path of the first object in a schema that would silently drop unknown members, or null. Such a schema
 * cannot tell a client that a member was misspelt.
 */
function looseMember(schema: z.core.$ZodType, path = "", seen = new Set<z.core.$ZodType>()): string | null {
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
