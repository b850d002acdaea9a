import type { Principal } from "@signalbox/auth";
import { z } from "zod";
import type { BodySpec, ByteLimit, Route } from "../routes/route-spec.ts";
import { looseMember } from "./strict-schema.ts";

/** A body declaration, worked out once. */
export interface CompiledBody {
  readonly kind: "json" | "multipart" | "raw" | "unread";
  readonly schema: z.ZodType | null;
  /** None where any type is read. */
  readonly mediaTypes: readonly string[];
  /** Every member has a default or is optional. */
  readonly mayBeLeftOut: boolean;
  /** The schema as it is for one caller. */
  readonly forCaller: ((principal: Principal) => Promise<z.ZodType>) | null;
  /** Null is `limits.maxRequestBytes`. */
  readonly maxBytes: ByteLimit | null;
  /** The body is a file: it may take long while it moves. */
  readonly takesFiles: boolean;
  /** Members the resource has and nobody may send. */
  readonly readOnly: ReadonlySet<string>;
}

/** @throws Error when an object of the schema would drop unknown members without a word. */
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

/** Also tells the documentation. */
export function allMembersMayBeLeftOut(schema: z.ZodType | null | undefined): boolean {
  return (
    schema instanceof z.ZodObject && Object.values(schema.shape).every((member) => member._zod.optin !== undefined)
  );
}

function mediaTypesOf(body: DeclaredBody): string[] {
  if ("unread" in body) return [...(body.unread.mediaTypes ?? [])];
  if ("raw" in body) return body.raw.json ? ["application/json"] : [...(body.raw.mediaTypes ?? [])];
  if ("multipart" in body) return body.json ? ["multipart/form-data", "application/json"] : ["multipart/form-data"];
  return body.mergePatch ? ["application/merge-patch+json", "application/json"] : ["application/json"];
}

function readOnlyMembers(schema: z.ZodType | null, response: unknown): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject) || !(response instanceof z.ZodObject)) return new Set();
  return new Set(Object.keys(response.shape).filter((name) => !Object.hasOwn(schema.shape, name)));
}
