import type { RequestListener } from "node:http";
import type { Authenticator } from "@signalbox/auth";
import type { Pool } from "@signalbox/storage";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import { groupRateLimits } from "../limits/rate-limit-group.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { OpenApiInfo } from "../openapi/openapi-document.ts";
import { openApiRoute } from "../openapi/openapi-route.ts";
import { createClientAddress, warnOfPeers } from "../request/client-address.ts";
import { createCors } from "../responses/cors.ts";
import type { Routes } from "../routes/create-routes.ts";
import { compileRoutes } from "./compile-routes.ts";
import { createEdge } from "./create-edge.ts";
import type { ForbiddenRequest } from "./edge.ts";
import { expressApp } from "./express-app.ts";
import type { HttpContext } from "./http-context.ts";
import { guarded, type Mounts, withMounts } from "./mounts.ts";

export interface HttpAppOptions {
  readonly context: HttpContext;
  readonly routes: Routes;
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  /** Where routes that `write` or `create` have their transactions. */
  readonly pool?: Pool;
  /** Needed when a route is `idempotent`. */
  readonly idempotency?: IdempotencyStore;
  /** Served at `/openapi/<service>.json`; left out, it is not. */
  readonly openapi?: OpenApiInfo;
  /** Other listeners by path prefix, such as an OpenID provider; logged as any route, counted by themselves. */
  readonly mounts?: Mounts;
  /** Told of every 403 `forbidden` of a known caller, for an audit. The answer does not wait for it. */
  readonly onForbidden?: (request: ForbiddenRequest) => void;
  /** Origins besides those of `http.cors.origins`. */
  readonly corsOrigins?: readonly string[];
  /** Overrides `http.strict-responses`; tests set it. */
  readonly strict?: boolean;
}

/** Builds the public listener of a service on Express 5. Throws at once for a table that contradicts itself. */
export function createHttpApp(options: HttpAppOptions): RequestListener {
  const { context, routes, authenticator, rateLimits, idempotency = null, openapi } = options;
  const list = openapi ? [...routes.list, openApiRoute(context.service, routes, openapi)] : routes.list;
  for (const { path, spec } of list) {
    if ((spec.write || spec.create) && !options.pool) throw new Error(`${path} writes, but there is no pool`);
    if (spec.idempotent && !idempotency) throw new Error(`${path} is idempotent, but there is no idempotency store`);
    if (spec.idempotent === "sealed" && !idempotency?.seals)
      throw new Error(`${path} needs an idempotency store with a sealer`);
    for (const policy of [spec.rateLimit, spec.anonymousRateLimit])
      if (policy && policy !== "none" && !rateLimits.named[policy])
        throw new Error(`${path}: there is no rate limit ${policy}`);
  }
  const edge = createEdge(context, {
    clientAddress: createClientAddress(context.configuration.get("http.trusted-proxies"), warnOfPeers(context.log)),
    authenticator,
    rateLimits: groupRateLimits(rateLimits),
    idempotency,
    pool: options.pool ?? null,
    onForbidden: options.onForbidden ?? null,
    cors: createCors([...context.configuration.get("http.cors.origins"), ...(options.corsOrigins ?? [])]),
    strict: options.strict ?? context.configuration.get("http.strict-responses"),
  });
  const app = expressApp(edge, compileRoutes(list));
  return withMounts(app, guarded(edge, options.mounts ?? {}));
}
