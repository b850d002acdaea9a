import type { RequestListener } from "node:http";
import type { Authenticator } from "@signalbox/auth";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { OpenApiInfo } from "../openapi/openapi-document.ts";
import type { Routes } from "../routes/create-routes.ts";
import type { HttpContext } from "./http-context.ts";

export interface HttpAppOptions {
  readonly context: HttpContext;
  readonly routes: Routes;
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  /** Needed when a route is `idempotent`. */
  readonly idempotency?: IdempotencyStore;
  /** Served at `/openapi/<service>.json`; left out, it is not. */
  readonly openapi?: OpenApiInfo;
  /** Other listeners by path prefix, such as an OpenID provider; they get the request untouched. */
  readonly mounts?: Readonly<Record<string, RequestListener>>;
  /** Overrides `http.strict-responses`; tests set it. */
  readonly strict?: boolean;
}

/** Builds the public listener of a service on Express 5. Throws at once for a table that contradicts itself. */
export declare function createHttpApp(options: HttpAppOptions): RequestListener;
