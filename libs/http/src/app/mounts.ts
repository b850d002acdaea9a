import type { IncomingMessage, RequestListener } from "node:http";
import type { Edge } from "../exchange/edge.ts";
import { leftTo } from "../routes/http-response.ts";
import { compileRoute } from "../steps/compile-route.ts";
import { serve } from "./serve.ts";

/** Listeners that answer all requests under a path prefix by themselves. */
export type Mounts = Readonly<Record<string, RequestListener>>;

/**
 * Routes requests under the prefixes to their listeners, and others to the app. Listeners see the whole path, unlike
 * with `app.use`.
 */
export function withMounts(app: RequestListener, mounts: Mounts): RequestListener {
  const entries = Object.entries(mounts);
  if (entries.length === 0) return app;
  return (request, response) => {
    const found = entries.find(([prefix]) => isUnder(request, prefix));
    (found ? found[1] : app)(request, response);
  };
}

/**
 * Wraps the listeners behind the public edge with the common headers of pages, a span and a log line. Each counts its requests
 * itself: only it knows their callers.
 */
export function guarded(edge: Edge, mounts: Mounts): Mounts {
  return Object.fromEntries(
    Object.entries(mounts).map(([prefix, listener]) => [prefix, guard(edge, prefix, listener)]),
  );
}

function guard(edge: Edge, prefix: string, listener: RequestListener): RequestListener {
  // Applications open the pages of sign-in in a window, and lose it with any other policy.
  const handled = { ...leftTo(listener), headers: { "Cross-Origin-Opener-Policy": "unsafe-none" } };
  const spec = { summary: "", auth: "anonymous", responses: { 200: "empty" }, handle: () => handled } as const;
  const route = compileRoute({ method: "get", path: prefix, spec });
  const guarded = { ...route, steps: [() => handled] };
  return (request, response) => void serve(edge, guarded, request, response, {});
}

function isUnder({ url = "" }: IncomingMessage, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url.charAt(prefix.length);
  return next === "" || next === "/" || next === "?";
}
