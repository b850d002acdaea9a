import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigurationError } from "@signalbox/config";
import { KiB, minutes, seconds } from "@signalbox/core";
import { answerClientError } from "./answer-client-error.ts";
import { errorResponse } from "./error-response.ts";
import type { Runner } from "./runner.ts";
import type { UpgradeListener } from "./service-context.ts";

export interface OpenListener {
  /** Used in names and, with `.port`, as the property to change when the port is taken: `http`, `internal`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listener: RequestListener;
  readonly upgrade?: UpgradeListener | undefined;
  readonly headerTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly keepAliveTimeoutMs?: number;
  readonly headerBytesMax?: number;
  /** Keeps answering while the runner drains, until it closes: for health checks. */
  readonly openWhileDraining?: boolean;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
}

/**
 * Puts a request listener on a port. Slow and oversized requests end with an error in our shape. On a drain it stops
 * accepting, asks clients to close, and waits for the requests in hand.
 *
 * @throws ConfigurationError when the address cannot be used.
 */
export async function openListener(runner: Runner, options: OpenListener): Promise<Listener> {
  const { name, host, upgrade, headerTimeoutMs = seconds(15), requestTimeoutMs = minutes(2) } = options;
  const server = createServer({
    headersTimeout: headerTimeoutMs,
    requestTimeout: Math.max(requestTimeoutMs, headerTimeoutMs),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? seconds(75),
    maxHeaderSize: options.headerBytesMax ?? 16 * KiB,
    // How exact the timeouts are: Node looks for late requests this often.
    connectionsCheckingInterval: Math.min(seconds(5), headerTimeoutMs),
    // Answered below in our shape.
    requireHostHeader: false,
  });
  const traffic = followTraffic(server, options.listener, upgrade);
  // Clients move to other instances while this one still answers, so that none of them meets a closed connection.
  if (!options.openWhileDraining) runner.leaving.addEventListener("abort", () => traffic.leave());
  await listen(server, options);
  openServers.add(server);
  server.once("close", () => openServers.delete(server));

  runner.defer(`${name} listener`, () => traffic.close());
  if (!options.openWhileDraining) runner.onDrain(`${name} listener`, () => traffic.drain());
  const { port } = server.address() as AddressInfo;
  return { url: `http://${reachable(host)}:${port}`, port };
}

const openServers = new Set<Server>();

/** The ports this process listens on right now: what a URL from outside must never lead back to. */
export function ownPorts(): readonly number[] {
  return [...openServers].flatMap((server) => (server.address() as AddressInfo | null)?.port ?? []);
}

/** How long a request may take from a client that had not heard of the stop to us. Longer than a round trip in one region. */
const requestOnItsWayMs = 100;

/** Knows which requests are in hand, so that a drain can wait for them and a bad request cannot tear an answer apart. */
function followTraffic(server: Server, listener: RequestListener, upgrade: UpgradeListener | undefined) {
  // By connection: one Set for all, added to and deleted from all the time, leaves a chain of dead tables behind. They keep
  // requests that are long over alive through every small collection, and each of these then takes twice as long.
  const connections = new Map<Duplex, ServerResponse[]>();
  const inHand = () => [...connections.values()].flat();
  const upgraded = new Set<Duplex>();
  let leaving = false;
  let draining = false;
  let drained: (() => void) | undefined;

  server.on("connection", (socket) => {
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    const answers = connections.get(request.socket) ?? [];
    answers.push(response);
    if (leaving) response.setHeader("connection", "close");
    response.once("close", () => {
      answers.splice(answers.indexOf(response), 1);
      if (!draining) return;
      server.closeIdleConnections();
      if (inHand().length === 0) drained?.();
    });
    if (request.headers.host === undefined && request.httpVersion === "1.1")
      refuse(response, 400, "The Host header is missing.");
    else listener(request, response);
  });
  server.on("checkExpectation", (_request, response) =>
    refuse(response, 417, "Only Expect: 100-continue is understood."),
  );
  server.on("clientError", (error, socket) => {
    const answers = connections.get(socket) ?? [];
    const isAnswering = answers.some((response) => response.socket === socket && response.headersSent);
    if (isAnswering) socket.destroy();
    else answerClientError(error, socket);
  });
  if (upgrade) {
    server.on("upgrade", (request, socket, head) => {
      upgraded.add(socket);
      // Without a listener, the reset of one client would be the end of the process.
      socket.on("error", () => socket.destroy());
      socket.once("close", () => upgraded.delete(socket));
      upgrade(request, socket, head);
    });
  }

  return {
    leave: () => {
      leaving = true;
    },
    drain: async () => {
      leaving = true;
      // Not http's own close: it would at once reset connections whose request is still on its way.
      NetServer.prototype.close.call(server);
      for (const response of inHand()) if (!response.headersSent) response.setHeader("connection", "close");
      await sleep(requestOnItsWayMs);
      draining = true;
      const done = Promise.withResolvers<void>();
      drained = done.resolve;
      server.closeIdleConnections();
      if (inHand().length > 0) await done.promise;
    },
    close: async () => {
      const closed = server.listening ? once(server, "close") : undefined;
      server.close();
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await closed;
    },
  };
}

function refuse(response: ServerResponse, status: 400 | 417, message: string): void {
  const { headers, body } = errorResponse(status, "invalid_request", message, { connection: "close" });
  response.writeHead(status, headers).end(body);
}

async function listen(server: Server, { name, host, port }: OpenListener): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    const problem = bindProblem(error as NodeJS.ErrnoException, name, host, port);
    if (problem === null) throw error;
    throw new ConfigurationError([problem]);
  }
}

function bindProblem(error: NodeJS.ErrnoException, name: string, host: string, port: number) {
  const source = `the ${name} listener`;
  switch (error.code) {
    case "EADDRINUSE":
      return {
        property: `${name}.port`,
        source,
        value: String(port),
        expected: `a free port on ${host}: this one is in use`,
      };
    case "EACCES":
      return {
        property: `${name}.port`,
        source,
        value: String(port),
        expected: "a port this user may open, above 1023",
      };
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return { property: `${name}.host`, source, value: host, expected: "an address of this machine" };
    default:
      return null;
  }
}

/** An address a client can connect to, where the listener takes every address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
