import type { RequestListener } from "node:http";
import type { Authenticator } from "@signalbox/auth";
import type { Pool } from "@signalbox/storage";
import { createEdge, type ForbiddenRequest, type RefusedRequest } from "../exchange/edge.ts";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import { groupRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import { type OpenApiInfo, openApiRoute } from "../openapi/openapi-document.ts";
import { createClientAddress, createCors, warnOfPeers } from "../request/client-address.ts";
import type { HttpContext } from "../request/http-properties.ts";
import type { Routes } from "../routes/create-routes.ts";
import { compileRoutes } from "../steps/compile-route.ts";
import { expressApp } from "./express-app.ts";
import { withKnownAnswers } from "./known-answers.ts";
import { guarded, type Mounts, withMounts } from "./mounts.ts";

export interface HttpAppOptions {
  readonly context: HttpContext;
  readonly routes: Routes;
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  /** The database for the transactions of routes that `write` or `create`. */
  readonly pool?: Pool;
  /** Required when a route is `idempotent`. */
  readonly idempotency?: IdempotencyStore;
  /** The document served at `/openapi/<service>.json`, if any. */
  readonly openapi?: OpenApiInfo;
  /**
   * Other listeners by path prefix, such as an OpenID provider. They are logged like any route and count their own
   * requests.
   */
  readonly mounts?: Mounts | undefined;
  /** Called for every 403 `forbidden` of a known caller, for an audit. The answer does not wait for it. */
  readonly onForbidden?: (request: ForbiddenRequest) => void;
  /** Called for every refusal of a known caller. The answer does not wait for it. */
  readonly onRefused?: (request: RefusedRequest) => void;
  /** Allowed origins besides those of `http.cors.origins`. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Overrides `http.strict-responses`; tests set it. */
  readonly strict?: boolean;
}

/** Builds the public listener of a service on Express 5. Throws at once for a table that contradicts itself. */
export function createHttpApp(options: HttpAppOptions): RequestListener {
  const { context, routes, authenticator, rateLimits, idempotency = null, openapi } = options;
  const list = openapi ? [...routes.list, openApiRoute(context.service, routes, openapi)] : routes.list;
  for (const { path, spec } of list) {
    if ((spec.write || spec.create) && !options.pool) throw new Error(`${path} writes: it needs a pool`);
    if (spec.idempotent && !idempotency) throw new Error(`${path} is idempotent: it needs an idempotency store`);
    if (spec.idempotent === "sealed" && !idempotency?.seals)
      throw new Error(`${path} needs an idempotency store with a sealer`);
    for (const policy of [spec.rateLimit, spec.anonymousRateLimit])
      if (policy && policy !== "none" && !rateLimits.named[policy])
        throw new Error(`${path}: unknown rate limit ${policy}`);
  }
  const edge = createEdge(context, {
    clientAddress: createClientAddress(context.configuration.get("http.trusted-proxies"), warnOfPeers(context.log)),
    authenticator,
    rateLimits: groupRateLimits(rateLimits),
    idempotency,
    pool: options.pool ?? null,
    onForbidden: options.onForbidden ?? null,
    onRefused: options.onRefused ?? null,
    cors: createCors([...context.configuration.get("http.cors.origins"), ...(options.corsOrigins ?? [])]),
    strict: options.strict ?? context.configuration.get("http.strict-responses"),
  });
  const compiled = compileRoutes(list);
  const app = withKnownAnswers(edge, compiled, expressApp(edge, compiled));
  return withMounts(app, guarded(edge, options.mounts ?? {}));
}
