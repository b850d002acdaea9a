import { unknownMembers } from "@signalbox/contracts";
import type { CompiledRoute } from "../exchange/exchange.ts";
import { fieldPath } from "../request/body-problems.ts";
import type { HttpResponse } from "../routes/http-response.ts";

/** Thrown when a handler's answer does not match its declaration: a bug, whose reason stays internal. */
class UndeclaredResponse extends Error {
  override readonly name = "UndeclaredResponse";
}

/**
 * Serializes a response with its declared members only. Undeclared members are left out, or refused in strict mode; a
 * value that does not fit its schema is always refused, and so is a status without a schema.
 * @throws UndeclaredResponse naming members, never values.
 */
export function jsonText(route: CompiledRoute, strict: boolean, response: HttpResponse): string {
  if (response.body.kind !== "json") return "";
  const { value } = response.body;
  if (response.lasting === undefined || typeof value !== "object" || value === null)
    return declaredText(route, strict, response.status, value);
  const written = route.lastingTexts.get(value);
  if (written !== undefined) return written;
  const text = declaredText(route, strict, response.status, value);
  route.lastingTexts.set(value, text);
  return text;
}

function declaredText(route: CompiledRoute, strict: boolean, status: number, value: unknown): string {
  const schema = route.bodySchemas.get(status);
  if (!schema) throw new UndeclaredResponse(`${route.label} answered ${status} with undeclared JSON`);
  const result = schema.safeParse(value);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${fieldPath(issue.path) || "body"}: ${issue.message}`);
    throw new UndeclaredResponse(
      `${route.label} answered ${status} with JSON that does not fit: ${problems.join("; ")}`,
    );
  }
  const extra = strict ? unknownMembers(value, result.data) : [];
  if (extra.length > 0) {
    throw new UndeclaredResponse(`${route.label} answered ${status} with undeclared ${extra.join(", ")}`);
  }
  return JSON.stringify(result.data);
}

/** Statuses that the framework may answer with on any route. */
const ownStatuses = new Set([304, 400, 401, 403, 404, 405, 406, 408, 413, 415, 429, 500, 502, 503, 504]);

/** In strict mode, checks that the route may answer with the status. @throws UndeclaredResponse */
export function checkStatus(route: CompiledRoute, { status }: HttpResponse): void {
  if (route.statuses.has(status) || ownStatuses.has(status)) return;
  if (status === 422 && route.body) return;
  if ((status === 409 || status === 422) && route.spec.idempotent) return;
  if (status === 409 && (route.method === "put" || route.method === "patch" || route.method === "delete")) return;
  throw new UndeclaredResponse(`${route.label} answered ${status}, which it does not declare`);
}
