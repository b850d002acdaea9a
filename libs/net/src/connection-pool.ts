import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { Agent, type buildConnector, Client, type Dispatcher, errors, Pool } from "undici";
import { AnswerGuard, headBytesMax, headerCountMax } from "./answer-guard.ts";
import type { CarriedHandler, Carrier, ConnectionGuard } from "./carrier.ts";
import { OutboundError } from "./outbound-error.ts";
import { type ClientCertificate, connectionTimingOf } from "./ssrf-guard.ts";

interface ConnectionPoolOptions {
  readonly connect: buildConnector.connector;
  readonly connectionsPerOriginMax: number;
  /**
   * Time for which an idle connection is kept. It must be shorter than that of common servers (Node: 5 s), or a request
   * meets a closing connection.
   */
  readonly idleTimeoutMs: number;
  readonly http2: boolean;
}

/** Longer than every deadline. It ends requests at a server that allows no streams, which no other timeout does. */
const noStreamsMs = seconds(120);

/**
 * Creates the keep-alive pool of one use. A connection is checked when it is opened and leads to that address only.
 * Reuse is by origin, inside this pool, so that no request of another use shares a connection. Proxy settings of the
 * environment are not read: only undici's EnvHttpProxyAgent would read them.
 */
export function createConnectionPool(options: ConnectionPoolOptions): Dispatcher {
  return new Agent({
    connect: options.connect,
    factory: (origin, settings) =>
      new Pool(origin, {
        ...settings,
        connections: options.connectionsPerOriginMax,
        pipelining: 1,
        allowH2: options.http2,
        h2Options: {
          maxConcurrentStreams: options.connectionsPerOriginMax,
          // A missed deadline shows the same, and earlier.
          pingInterval: 0,
        },
        // The guard limits the head; this limit remains for trailers.
        maxHeaderSize: 64 * 1024,
        keepAliveTimeout: options.idleTimeoutMs,
        keepAliveMaxTimeout: options.idleTimeoutMs,
        // The deadline of the exchange covers both timeouts.
        headersTimeout: options.http2 ? noStreamsMs : 0,
        bodyTimeout: 0,
        factory: createCarrierClient,
      }),
  });
}

/** Pools of recently used certificates. A certificate that comes back later costs a new handshake. */
const certificatesMax = 256;

interface PoolsByCertificate {
  of(certificate: ClientCertificate | undefined): Dispatcher;
  destroy(): Promise<void>;
}

/** Creates one pool for requests without a client certificate, and one for each certificate. */
export function createPoolsByCertificate(
  create: (certificate: ClientCertificate | undefined) => Dispatcher,
): PoolsByCertificate {
  const plain = create(undefined);
  const pools = new LRUCache<string, Dispatcher>({
    max: certificatesMax,
    // close() waits for the running exchanges.
    dispose: (pool, _key, reason) => void (reason === "evict" && pool.close().catch(() => {})),
  });
  return {
    of(certificate) {
      if (certificate === undefined) return plain;
      const key = hash("sha256", `${certificate.certificate}\n${certificate.key}`);
      const known = pools.get(key);
      if (known) return known;
      const pool = create(certificate);
      pools.set(key, pool);
      return pool;
    },
    async destroy() {
      await Promise.all([plain, ...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** A client that hands the address and guard of its one socket to each exchange. */
class CarrierClient extends Client {
  readonly #carrier: Carrier;

  constructor(origin: URL, settings: Client.Options, carrier: Carrier) {
    super(origin, settings);
    this.#carrier = carrier;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: CarriedHandler): boolean {
    handler.carrier = this.#carrier;
    return super.dispatch(options, handler);
  }

  /** Accepts no more exchanges, and closes after the running ones: the pool treats it like a failed connection. */
  retire(origin: URL): void {
    const reason = new errors.InformationalError("A response did not arrive in time.");
    this.emit("connectionError", origin, [this], reason);
  }
}

function createCarrierClient(origin: URL, settings: object): Dispatcher {
  const carrier: Carrier = { remoteAddress: undefined, guard: undefined, opened: undefined, retire: undefined };
  const { connect, ...rest } = settings as Client.Options & { connect: buildConnector.connector };
  const named: buildConnector.connector = (target, callback) =>
    connect(target, (...outcome) => {
      const socket = outcome[1] as Socket | null;
      const isShared = (socket as TLSSocket | null)?.alpnProtocol === "h2";
      carrier.remoteAddress = socket?.remoteAddress;
      carrier.guard = socket ? new (isShared ? SessionGuard : AnswerGuard)(socket) : undefined;
      carrier.retire = isShared ? () => client.retire(origin) : undefined;
      carrier.opened = socket ? connectionTimingOf(socket) : undefined;
      callback(...outcome);
    });
  const client = new CarrierClient(origin, { ...rest, connect: named }, carrier);
  return client;
}

/** Allowance of one exchange: its heads, and data of a body on its way when reading stopped. */
const wireBytesPerExchange = 512 * 1024;
/** A data frame of one byte takes ten on the wire. */
const wireBytesPerBodyByteMax = 16;
const checkEveryMs = 100;

/**
 * Guards an HTTP/2 connection, whose frames the parser reads from the system directly. The parser limits neither frames
 * that it ignores nor data of abandoned streams. So the bytes received on the connection are compared with those that
 * its exchanges account for; a connection with more is closed.
 */
class SessionGuard implements ConnectionGuard {
  readonly #socket: Socket;
  #wireBytesMax = wireBytesPerExchange;

  constructor(socket: Socket) {
    this.#socket = socket;
    const timer = setInterval(() => this.#checkBytes(), checkEveryMs).unref();
    socket.once("close", () => clearInterval(timer));
  }

  expectAnswer(): void {
    this.#wireBytesMax += wireBytesPerExchange;
  }

  /** Checks the size of a head: the parser lets slightly larger ones through. */
  problemOf(headers: IncomingHttpHeaders): ReturnType<ConnectionGuard["problemOf"]> {
    const lines = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => name + one));
    if (lines.length > headerCountMax)
      return ["too-many-headers", `The response has more than ${headerCountMax} headers.`];
    const bytes = lines.reduce((sum, line) => sum + line.length, 0);
    return bytes > headBytesMax ? ["head-too-large", "The response headers are larger than 64 KiB."] : null;
  }

  countBody(bytes: number): void {
    this.#wireBytesMax += bytes * wireBytesPerBodyByteMax;
  }

  endAnswer(): void {}

  #checkBytes(): void {
    const { bytesRead, remoteAddress } = this.#socket;
    if (bytesRead <= this.#wireBytesMax) return;
    const message = "The connection receives mostly frames that belong to no answer.";
    const error = new OutboundError("response", message, { code: "malformed", during: "response", remoteAddress });
    this.#socket.destroy(error);
  }
}
