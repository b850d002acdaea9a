import { z } from "zod";
import type { Route } from "../routes/route-spec.ts";

const parameter = (id: string, schema = z.string()) => schema.optional().meta({ param: { id } });

const requestId = parameter("RequestId").describe(
  "Comes back with the answer; one that is absent, long or odd is replaced by a new one.",
);
const idempotencyKey = parameter("IdempotencyKey", z.string().regex(/^[\x21-\x7e]{1,255}$/)).describe(
  "The same request is done once in 24 hours.",
);
const ifNoneMatch = parameter("IfNoneMatch").describe("Entity tags that the client has; a current one gives 304.");
const ifMatch = parameter("IfMatch").describe("The entity tag that the change is about; another one gives 409.");
const prefer = parameter("Prefer").describe("`return=minimal` gives 204.");

/** The headers that a route understands. Each is one schema, which all documents refer to by its name. */
export function headersOf({ method, spec }: Route): z.ZodObject {
  return z.object({
    "X-Request-Id": requestId,
    ...(spec.idempotent ? { "Idempotency-Key": idempotencyKey } : {}),
    ...(method === "get" ? { "If-None-Match": ifNoneMatch } : {}),
    ...(["put", "patch", "delete"].includes(method) ? { "If-Match": ifMatch } : {}),
    ...(["put", "patch"].includes(method) ? { Prefer: prefer } : {}),
  });
}
