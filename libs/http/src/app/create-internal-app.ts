import type { RequestListener } from "node:http";
import { judgeInternalCall } from "@signalbox/auth";
import { requestIdOf, securityHeaders } from "@signalbox/core";
import type { Pool } from "@signalbox/storage";
import { createEdge } from "../exchange/edge.ts";
import { type OpenApiInfo, openApiRoute } from "../openapi/openapi-document.ts";
import { createClientAddress, createCors } from "../request/client-address.ts";
import type { HttpContext } from "../request/http-properties.ts";
import { errorText } from "../responses/error-response.ts";
import type { Routes } from "../routes/create-routes.ts";
import { compileRoutes } from "../steps/compile-route.ts";
import { expressApp } from "./express-app.ts";
import { type Mounts, withMounts } from "./mounts.ts";

export interface InternalAppOptions {
  readonly context: HttpContext;
  /** The live values of `internal.token`: two during a rotation. */
  readonly tokens: readonly string[] | (() => readonly string[]);
  /** The live values of `internal.callers`. If there are any, a token opens only the paths of its caller. */
  readonly callers?: () => readonly string[];
  /** Routes of the internal listener; their `auth` is `"anonymous"`, since the token is checked before them. */
  readonly routes: Routes;
  /** The database for the transactions of routes that write. */
  readonly pool?: Pool;
  /** Other listeners by path prefix, such as the subgraph at `/graphql`, behind the same token. */
  readonly mounts?: Mounts;
  /** The public table; the gateway merges its document at `/openapi/<service>.json` with the others. */
  readonly published?: { readonly routes: Routes; readonly openapi: OpenApiInfo };
  readonly strict?: boolean;
}

/** Builds the internal listener: without the internal token every path is refused, even a missing one. */
export function createInternalApp(options: InternalAppOptions): RequestListener {
  const { context, routes, tokens, published } = options;
  const personal = routes.list.find(({ spec }) => spec.auth !== "anonymous");
  if (personal)
    throw new Error(`${personal.path}: internal routes are "anonymous", because the token is checked before them`);
  const edge = createEdge(context, {
    clientAddress: createClientAddress([]),
    authenticator: null,
    rateLimits: null,
    idempotency: null,
    pool: options.pool ?? null,
    onForbidden: null,
    onRefused: null,
    cors: createCors([]),
    strict: options.strict ?? context.configuration.get("http.strict-responses"),
  });
  const document = published ? [openApiRoute(context.service, published.routes, published.openapi)] : [];
  const app = withMounts(expressApp(edge, compileRoutes([...routes.list, ...document])), options.mounts ?? {});
  const live = typeof tokens === "function" ? tokens : () => tokens;
  const { callers = () => [] } = options;
  return (request, response) => {
    const { caller, isAdmitted } = judgeInternalCall(request, { tokens: live(), callers: callers() });
    if (isAdmitted) return app(request, response);
    const requestId = requestIdOf(request.headers["x-request-id"]);
    const line = { requestId, path: request.url, clientAddress: request.socket.remoteAddress, caller };
    context.log.warn(
      line,
      caller === null ? "internal token missing" : "the internal token of this caller does not open this path",
    );
    const status = caller === null ? 401 : 403;
    const body = errorText(refusals[status], status, { style: "plain", requestId, docs: edge.errorDocs });
    const headers = [...securityHeaders.flat(), "X-Request-Id", requestId, "Content-Type", "application/json"];
    response.writeHead(status, headers);
    response.end(body);
  };
}

const refusals = {
  401: { code: "unauthorized", message: "The internal token is required." },
  403: { code: "forbidden", message: "The internal token of this caller does not open this path." },
} as const;
