import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { KiB, seconds } from "@signalbox/core";
import { ConfigurationError } from "./config/configuration.ts";
import { createErrorResponses, type ErrorDocs } from "./error-response.ts";
import type { Runner } from "./runner.ts";
import type { UpgradeListener } from "./service-context.ts";
import { Traffic } from "./traffic.ts";

export interface OpenListener {
  /** Used in names and, with `.port`, as the property to change when the port is in use: `http`, `internal`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listener: RequestListener;
  readonly upgrade?: UpgradeListener | undefined;
  readonly headerTimeoutMs?: number;
  /** Time after which a client that stops reading a response is disconnected. */
  readonly stallTimeoutMs?: number;
  readonly keepAliveTimeoutMs?: number;
  /** Time for which a drain leaves idle connections open. */
  readonly drainIdleMs?: number;
  readonly headerBytesMax?: number;
  /** The page that explains the error codes. */
  readonly errorDocs: ErrorDocs;
  /** Keeps answering while the runner drains, until it closes: for health checks. */
  readonly openWhileDraining?: boolean;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
}

/**
 * Opens a port for a request listener. Slow and oversized requests end with an error of the usual form. On a drain it
 * stops accepting, asks clients to close, and waits for running requests and for the clients of idle connections.
 *
 * @throws ConfigurationError when the address cannot be used.
 */
export async function openListener(runner: Runner, options: OpenListener): Promise<Listener> {
  const { name, host, upgrade, headerTimeoutMs = seconds(15) } = options;
  const server = createServer({
    headersTimeout: headerTimeoutMs,
    // A large body may take long while it moves: the routes judge that.
    requestTimeout: 0,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? seconds(75),
    maxHeaderSize: options.headerBytesMax ?? 80 * KiB,
    // Precision of the timeouts: Node looks for late requests at this interval.
    connectionsCheckingInterval: Math.min(seconds(5), headerTimeoutMs),
    // Answered below in the usual form.
    requireHostHeader: false,
    // An offer of another protocol may be ignored (RFC 9110 §7.8): Java's HttpClient offers h2c with every request.
    // Behind requests without an answer it is ignored, too: their answers would be written into the other protocol.
    shouldUpgradeCallback: ({ headers, socket }) =>
      upgrade !== undefined && headers.upgrade?.toLowerCase() === "websocket" && !traffic.isAnswering(socket),
  });
  server.timeout = options.stallTimeoutMs ?? seconds(30);
  const traffic = new Traffic(server, options.listener, upgrade, createErrorResponses(options.errorDocs));
  // Clients move to other instances while this one still answers, so that none of them meets a closed connection.
  if (!options.openWhileDraining) runner.leaving.addEventListener("abort", () => traffic.leave());
  await listen(server, options);
  openServers.add(server);
  server.once("close", () => openServers.delete(server));

  runner.defer(`${name} listener`, () => traffic.close());
  if (!options.openWhileDraining) {
    runner.onDrain(
      `${name} listener`,
      () => traffic.drain(options.drainIdleMs ?? 100),
      () => traffic.inHand(),
    );
  }
  const { port } = server.address() as AddressInfo;
  return { url: `http://${reachable(host)}:${port}`, port };
}

const openServers = new Set<Server>();

/** Lists the current ports of this process: a URL from outside must never lead back to one. */
export function ownPorts(): readonly number[] {
  return [...openServers].flatMap((server) => (server.address() as AddressInfo | null)?.port ?? []);
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
  const portProperty = { property: `${name}.port`, source, value: String(port) };
  switch (error.code) {
    case "EADDRINUSE":
      return {
        ...portProperty,
        expected: "a free port",
        message: `port ${port} on ${host} is in use; set ${name}.port to a free one`,
      };
    case "EACCES":
      return {
        ...portProperty,
        expected: "a port above 1023",
        message: `this user may not open port ${port}; set ${name}.port to one above 1023`,
      };
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return {
        property: `${name}.host`,
        source,
        value: host,
        expected: "an address of this machine",
        message: `${host} is not an address of this machine; set ${name}.host to one`,
      };
    default:
      return null;
  }
}

/** Returns an address for clients, where the listener binds to every address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
