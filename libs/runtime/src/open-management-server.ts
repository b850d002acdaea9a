import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError, newRequestId } from "@signalbox/core";
import { createErrorResponses, type ErrorDocs, type ErrorResponses } from "./error-response.ts";
import {
  type Management,
  type ManagementResponse,
  type ManagementRoute,
  managementRoutes,
} from "./management-routes.ts";
import { type Listener, openListener } from "./open-listener.ts";
import type { Runner } from "./runner.ts";
import type { Logger } from "./telemetry/logger.ts";

export interface OpenManagementServer extends Omit<Management, "errorResponse"> {
  readonly runner: Runner;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  /** Ids of the exposed endpoints; `*` for all. */
  readonly exposure: readonly string[];
  /** The page that explains the error codes. */
  readonly errorDocs: ErrorDocs;
}

/**
 * Opens the management server of a process. It answers until the end of the process, so that a drain can be observed.
 */
export function openManagementServer(options: OpenManagementServer): Promise<Listener> {
  const { runner, host, port, errorDocs } = options;
  const listener = createManagementListener(options);
  return openListener(runner, { name: "management.server", host, port, listener, errorDocs, openWhileDraining: true });
}

type ListenerOptions = Omit<OpenManagementServer, "runner" | "host" | "port">;

/** Creates the request listener without a port. */
function createManagementListener({
  log,
  basePath,
  exposure,
  errorDocs,
  ...management
}: ListenerOptions): RequestListener {
  const errorResponse = createErrorResponses(errorDocs);
  const isExposed = (id: string) => exposure.includes(id) || exposure.includes("*");
  const routes = managementRoutes({ ...management, errorResponse }).filter((route) => isExposed(route.id));
  return (request, response) => {
    void answer(request, basePath, routes, errorResponse)
      .catch((error: unknown) => {
        if (isAppError(error) && error.code === "unavailable") return errorResponse(503, error.code, error.message);
        if (isAppError(error) && error.code === "rate_limited") {
          const headers = { "retry-after": String(error.retryAfterSeconds ?? 1) };
          return errorResponse(429, error.code, error.message, { headers });
        }
        log.error({ error, path: request.url }, "A management request failed");
        return errorResponse(500, "server_error", "The request could not be answered.");
      })
      .then((answered) => write(request, response, answered));
  };
}

async function answer(
  request: IncomingMessage,
  basePath: string,
  routes: readonly ManagementRoute[],
  errorResponse: ErrorResponses,
): Promise<ManagementResponse> {
  // Not decoded: an encoded slash is part of a property's name, not of the path.
  const [path = "/", ...queries] = (request.url ?? "/").split("?");
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length).replace(/(?<=.)\/$/, "") : null;
  for (const route of routes) {
    const match = below === null ? null : route.path.exec(below);
    if (!match) continue;
    if (request.method === "GET" || request.method === "HEAD") {
      const query = new URLSearchParams(queries.join("?"));
      return route.answer(match, { headers: request.headers, query, address: request.socket.remoteAddress ?? "" });
    }
    const headers = { allow: "GET, HEAD" };
    return errorResponse(405, "method_not_allowed", "Only GET and HEAD are allowed here.", { headers });
  }
  return errorResponse(404, "not_found", "There is nothing at this path.");
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ManagementResponse,
): void {
  response.writeHead(status, {
    "x-request-id": newRequestId(),
    "x-content-type-options": "nosniff",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
