import { AppError, securityHeaders } from "@signalbox/core";
import type { z } from "zod";
import { createNegotiate } from "../responses/negotiation.ts";
import { type RouteAccess, routeAccess } from "../routes/route-access.ts";
import type { Route, RouteSpec } from "../routes/route-spec.ts";
import { authenticate, countAnonymous } from "../steps/authenticate.ts";
import { beginIdempotency } from "../steps/begin-idempotency.ts";
import { readDeclaredBody, refuseBody } from "../steps/read-body.ts";
import { readParams, readQuery } from "../steps/read-parameters.ts";
import { answerOf } from "../steps/run-route.ts";
import { type CompiledBody, compileBody } from "./compile-body.ts";
import type { CompiledRoute, Step } from "./exchange.ts";

/** Works out a route. @throws Error for a declaration that contradicts itself. */
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
    headers: [...securityHeaders.flat(), ...deprecation(spec)],
    vary: ["Accept", "Authorization", "X-API-Key", ...(spec.vary ?? [])].join(", "),
    deadlineMs: spec.deadlineMs,
    bodySchemas: schemasOf(spec),
    lastingTexts: new WeakMap(),
    statuses: new Set(Object.keys(spec.responses).map(Number)),
    attributes: { "http.request.method": method.toUpperCase(), "http.route": path },
    labels: new Map(),
  };
}

/** The stages of a request, in order. What comes earlier costs less and tells less. */
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

/** Agrees on a media type before anything has an effect. Refusals are JSON whatever the client accepts. */
const negotiate: Step = (exchange) => {
  const chosen = exchange.route.negotiate(exchange.headers.accept);
  if (chosen !== null) {
    exchange.mediaType = chosen;
    return null;
  }
  throw new AppError("not_acceptable", `This can be had as ${exchange.route.mediaTypes.join(", ")}.`);
};

/** RFC 9745 writes a time as `@` and seconds, RFC 8594 as an HTTP date. */
function deprecation({ deprecated }: RouteSpec): string[] {
  if (!deprecated) return [];
  const since = Math.floor(deprecated.since.getTime() / 1000);
  return ["Deprecation", `@${since}`, "Sunset", deprecated.sunset.toUTCString()];
}
