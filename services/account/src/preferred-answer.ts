import type { IncomingHttpHeaders } from "node:http";
import { type HttpResponse, noContent, ok } from "@signalbox/http";

/**
 * The answer to a write: the resource, or 204 where the client asked for it with `Prefer: return=minimal`
 * (RFC 7240 §4.2). The validator comes either way, so the next conditional write needs no read.
 */
export function preferredAnswer(headers: IncomingHttpHeaders, resource: unknown, etag: string): HttpResponse {
  if (!prefersMinimal(headers.prefer)) return ok(resource, { etag });
  return noContent({ etag, headers: { "preference-applied": "return=minimal" } });
}

function prefersMinimal(prefer: string | string[] | undefined): boolean {
  const preferences = String(prefer ?? "").split(",");
  return preferences.some((preference) => /^\s*return\s*=\s*"?minimal"?\s*(;|$)/i.test(preference));
}
