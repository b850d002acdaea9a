import { AppError, securityHeaders } from "@signalbox/core";
import type { z } from "zod";
import { type CompiledBody, compileBody } from "../exchange/compile-body.ts";
import type { CompiledRoute, Step } from "../exchange/exchange.ts";
import { createNegotiate } from "../request/negotiation.ts";
import { type Route, type RouteAccess, type RouteSpec, routeAccess } from "../routes/route-spec.ts";
import { tusVersion } from "../uploads/tus.ts";
import { agreeOnTus } from "./agree-on-tus.ts";
import { authenticate, countAnonymous } from "./authenticate.ts";
import { beginIdempotency } from "./begin-idempotency.ts";
import { readDeclaredBody, readParams, readQuery, refuseBody } from "./read-input.ts";
import { answerOf } from "./run-route.ts";

/** Compiles a route. @throws Error for a declaration that contradicts itself. */
export function compileRoute(route: Route): CompiledRoute {
  const { method, path, spec } = route;
  const body = compileBody(route);
  if ((method === "get" || method === "delete") && body) throw new Error(`${method} ${path}: takes no body`);
  const ways = [spec.handle, spec.write, spec.create].filter(Boolean).length;
  if (ways !== 1) throw new Error(`${method} ${path}: needs one of handle, write and create, has ${ways}`);
  const auth = routeAccess(spec.auth, method);
  const mediaTypes = successTypes(spec);
  return {
    method,
    path,
    label: `${method.toUpperCase()} ${path}`,
    spec,
    auth,
    body,
    errors: spec.errors ?? "plain",
    rateLimit: spec.rateLimit ?? null,
    mediaTypes,
    negotiate: createNegotiate(mediaTypes),
    steps: stepsOf(spec, auth, body, path, mediaTypes),
    headers: [...securityHeaders.flat(), ...deprecation(spec), ...(spec.tus ? ["Tus-Resumable", tusVersion] : [])],
    vary: ["Accept", "Authorization", "X-API-Key", ...(spec.vary ?? [])].join(", "),
    deadlineMs: spec.deadlineMs,
    bodySchemas: schemasOf(spec),
    lastingTexts: new WeakMap(),
    statuses: new Set([...Object.keys(spec.responses).map(Number), ...(spec.tus ? [412] : [])]),
    attributes: { "http.request.method": method.toUpperCase(), "http.route": path },
    labels: new Map(),
    expectedLines: { nextMs: Number.NEGATIVE_INFINITY, unlogged: 0 },
  };
}

/** Lists the stages of a request, in order. Earlier ones cost less and reveal less. */
function stepsOf(
  spec: RouteSpec,
  auth: RouteAccess,
  body: CompiledBody | null,
  path: string,
  mediaTypes: readonly string[],
): Step[] {
  if (spec.unmatched) return [countAnonymous, answerOf(spec)];
  return [
    auth.anonymous ? countAnonymous : authenticate,
    ...(spec.tus ? [agreeOnTus] : []),
    ...(mediaTypes.length > 0 && !spec.ownNegotiation ? [negotiate] : []),
    ...(path.includes(":") || spec.params ? [readParams] : []),
    ...(spec.ownQuery ? [] : [readQuery]),
    body ? readDeclaredBody : refuseBody,
    ...(spec.idempotent ? [beginIdempotency] : []),
    answerOf(spec),
  ];
}

function successTypes(spec: RouteSpec): string[] {
  const types = Object.entries(spec.responses)
    .filter(([status]) => Number(status) < 300)
    .flatMap(([, response]) => {
      if (response === "empty" || response === "error") return [];
      return "content" in response ? response.content : ["application/json"];
    });
  return [...new Set(types)];
}

function schemasOf(spec: RouteSpec): Map<number, z.ZodType> {
  const schemas = new Map<number, z.ZodType>();
  for (const [status, response] of Object.entries(spec.responses)) {
    if (typeof response === "object" && "safeParse" in response) schemas.set(Number(status), response);
  }
  return schemas;
}

/** Agrees on a media type before anything has an effect. Refusals are always JSON. */
const negotiate: Step = (exchange) => {
  const chosen = exchange.route.negotiate(exchange.headers.accept);
  if (chosen !== null) {
    exchange.mediaType = chosen;
    return null;
  }
  throw new AppError("not_acceptable", `Available media types: ${exchange.route.mediaTypes.join(", ")}.`);
};

/** RFC 9745 writes a time as `@` and seconds, RFC 8594 as an HTTP date. */
function deprecation({ deprecated }: RouteSpec): string[] {
  if (!deprecated) return [];
  const since = Math.floor(deprecated.since.getTime() / 1000);
  return ["Deprecation", `@${since}`, "Sunset", deprecated.sunset.toUTCString()];
}

/**
 * Compiles a table and sorts it for matching: a literal segment before a parameter, so that `/images/import` never
 * reads as an image id. @throws Error when two routes would answer the same request.
 */
export function compileRoutes(routes: readonly Route[]): CompiledRoute[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const shape = `${method} ${shapeOf(path)}`;
    if (seen.has(shape)) throw new Error(`${method} ${path} is declared twice`);
    seen.add(shape);
  }
  return routes.map(compileRoute).sort((a, b) => bySpecificity(a.path, b.path));
}

/** Returns the common form of paths that match the same requests. */
export const shapeOf = (path: string): string => withoutSlash(path.replace(/:\w+/g, ":"));

export const withoutSlash = (path: string): string => path.replace(/\/+$/, "");

function bySpecificity(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = Number(left[index]?.startsWith(":")) - Number(right[index]?.startsWith(":"));
    if (difference !== 0) return difference;
  }
  return 0;
}
