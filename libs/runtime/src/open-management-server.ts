import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError, randomId } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import { errorResponse } from "./error-response.ts";
import {
  type Management,
  type ManagementResponse,
  type ManagementRoute,
  managementRoutes,
} from "./management-routes.ts";
import { type Listener, openListener } from "./open-listener.ts";
import type { Runner } from "./runner.ts";

export interface OpenManagementServer extends Management {
  readonly runner: Runner;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  /** Ids of the endpoints that answer; `*` for all. */
  readonly exposure: readonly string[];
}

/** Opens the management server of a process. It answers until the very end, so that a drain can be watched. */
export function openManagementServer(options: OpenManagementServer): Promise<Listener> {
  const { runner, host, port } = options;
  const listener = createManagementListener(options);
  return openListener(runner, { name: "management.server", host, port, listener, openWhileDraining: true });
}

type ListenerOptions = Omit<OpenManagementServer, "runner" | "host" | "port">;

/** The request listener alone, without a port. */
function createManagementListener({ log, basePath, exposure, ...management }: ListenerOptions): RequestListener {
  const isExposed = (id: string) => exposure.includes(id) || exposure.includes("*");
  const routes = managementRoutes(management).filter((route) => isExposed(route.id));
  return (request, response) => {
    void answer(request, basePath, routes)
      .catch((error: unknown) => {
        if (isAppError(error) && error.code === "unavailable") return errorResponse(503, error.code, error.message);
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
): Promise<ManagementResponse> {
  // Not decoded: an encoded slash belongs to the name of a property, not to the path.
  const [path = "/"] = (request.url ?? "/").split("?");
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length).replace(/(?<=.)\/$/, "") : null;
  for (const route of routes) {
    const match = below === null ? null : route.path.exec(below);
    if (!match) continue;
    if (request.method === "GET" || request.method === "HEAD") return route.answer(match, request.headers);
    return errorResponse(405, "method_not_allowed", "Only GET and HEAD are answered here.", { allow: "GET, HEAD" });
  }
  return errorResponse(404, "not_found", "There is nothing at this path.");
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ManagementResponse,
): void {
  response.writeHead(status, {
    "x-request-id": randomId("req"),
    "x-content-type-options": "nosniff",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
