import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, requestIdOf, type ServiceName } from "@signalbox/core";
import { type ErrorResponses, endWithResponse, type ServiceParts } from "@signalbox/runtime";
import { serviceOf } from "./edge-routes.ts";

/** Creates the edge of the embedded mode: passes each request to the service that owns its path, without a hop. */
export function createInProcessEdge(
  services: ReadonlyMap<ServiceName, ServiceParts>,
  errorResponse: ErrorResponses,
): {
  listener: RequestListener;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
} {
  const partsOf = (request: IncomingMessage): ServiceParts | undefined => {
    const service = serviceOf(pathOf(request.url ?? "/"));
    return service === null ? undefined : services.get(service);
  };
  return {
    listener: (request, response) => {
      const listener = partsOf(request)?.public;
      if (listener === undefined) return refuseUnknown(request, response, errorResponse);
      listener(request, response);
    },
    upgrade: (request, socket, head) => {
      const upgrade = partsOf(request)?.upgrade;
      if (upgrade === undefined) return refuseUpgrade(request, socket, errorResponse);
      upgrade(request, socket, head);
    },
  };
}

/** Refuses an upgrade: its connection has no response to write to. */
function refuseUpgrade({ headers }: IncomingMessage, socket: Duplex, errorResponse: ErrorResponses): void {
  const requestId = requestIdOf(headers["x-request-id"]);
  endWithResponse(socket, errorResponse(404, "not_found", "Nothing is published here.", { requestId }));
}

/**
 * Creates the single internal listener of the embedded mode: `/<service>/rest` is passed to `/rest` of that service.
 */
export function createInternalEdge(
  services: ReadonlyMap<ServiceName, ServiceParts>,
  errorResponse: ErrorResponses,
): RequestListener {
  return (request, response) => {
    const [, name = "", ...rest] = (request.url ?? "/").split("/");
    const listener = services.get(name as ServiceName)?.internal;
    if (listener === undefined) return refuseUnknown(request, response, errorResponse);
    request.url = `/${rest.join("/")}`;
    listener(request, response);
  };
}

function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

function refuseUnknown(request: IncomingMessage, response: ServerResponse, errorResponse: ErrorResponses): void {
  const message = `Nothing is published at ${pathOf(request.url ?? "/").slice(0, 200)}.`;
  refuse(request, response, errorResponse, { status: 404, code: "not_found", message });
}

export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  errorResponse: ErrorResponses,
  refusal: { status: number; code: ErrorCode; message: string; headers?: Readonly<Record<string, string>> },
): void {
  const { status, code, message, headers = {} } = refusal;
  // The rest of the request's body is not read.
  const closing: Record<string, string> = request.complete ? {} : { connection: "close" };
  const options = { requestId: requestIdOf(request.headers["x-request-id"]), headers: { ...closing, ...headers } };
  const answer = errorResponse(status, code, message, options);
  response.writeHead(status, answer.headers).end(answer.body);
}
