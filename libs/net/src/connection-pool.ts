import { hash } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { Agent, type buildConnector, Client, type Dispatcher, errors, Pool } from "undici";
import { AnswerGuard } from "./answer-guard.ts";
import type { CarriedHandler, Carrier } from "./carrier.ts";
import { type ClientCertificate, connectionTimingOf } from "./guarded-connector.ts";
import { SessionGuard } from "./session-guard.ts";

interface ConnectionPoolOptions {
  readonly connect: buildConnector.connector;
  readonly connectionsPerOriginMax: number;
  /** How long an idle connection is kept, below what common servers keep theirs (Node 5 s), or it closes under a request. */
  readonly idleTimeoutMs: number;
  readonly http2: boolean;
}

/** Longer than every deadline. Ends what waits at a server that allows no streams, which nothing else would. */
const noStreamsMs = seconds(120);

/**
 * The keep-alive pool of one use. A connection is judged when it is made and only ever leads to that address; reuse is by
 * origin, inside this pool alone, so no request of another use can ride on it. Proxy settings of the environment are not
 * read: only undici's EnvHttpProxyAgent would.
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
          // A deadline that passes tells as much, and earlier.
          pingInterval: 0,
        },
        // The guard's bound counts for the head; this one is left for trailers.
        maxHeaderSize: 64 * 1024,
        keepAliveTimeout: options.idleTimeoutMs,
        keepAliveMaxTimeout: options.idleTimeoutMs,
        // The deadline of the exchange covers both.
        headersTimeout: options.http2 ? noStreamsMs : 0,
        bodyTimeout: 0,
        factory: createNamedClient,
      }),
  });
}

/** Pools for certificates that were used lately. One that is shown again later costs a handshake. */
const certificatesMax = 256;

interface PoolsByCertificate {
  of(certificate: ClientCertificate | undefined): Dispatcher;
  destroy(): Promise<void>;
}

/** One pool for requests without a client certificate, and one for each certificate. */
export function createPoolsByCertificate(
  create: (certificate: ClientCertificate | undefined) => Dispatcher,
): PoolsByCertificate {
  const plain = create(undefined);
  const pools = new LRUCache<string, Dispatcher>({
    max: certificatesMax,
    // Waits for the exchanges that it carries.
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

/** A client that knows its one socket's address and guard, and hands them to each exchange that it carries. */
class NamedClient extends Client {
  readonly #carrier: Carrier;

  constructor(origin: URL, settings: Client.Options, carrier: Carrier) {
    super(origin, settings);
    this.#carrier = carrier;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: CarriedHandler): boolean {
    handler.carrier = this.#carrier;
    return super.dispatch(options, handler);
  }

  /** Takes no more exchanges, and ends when those under way have: the pool does with it as after a failed connection. */
  retire(origin: URL): void {
    const reason = new errors.InformationalError("An answer did not come in time.");
    this.emit("connectionError", origin, [this], reason);
  }
}

function createNamedClient(origin: URL, settings: object): Dispatcher {
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
  const client = new NamedClient(origin, { ...rest, connect: named }, carrier);
  return client;
}
