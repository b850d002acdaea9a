import { Agent, type buildConnector, Client, type Dispatcher, Pool } from "undici";
import type { CarriedHandler, Carrier } from "./exchange.ts";

interface ConnectionPoolOptions {
  readonly connect: buildConnector.connector;
  readonly connectionsPerOriginMax: number;
  /** How long an idle connection is kept, below what common servers keep theirs (Node 5 s), or it closes under a request. */
  readonly idleTimeoutMs: number;
}

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
        allowH2: false,
        keepAliveTimeout: options.idleTimeoutMs,
        keepAliveMaxTimeout: options.idleTimeoutMs,
        // The deadline of the exchange covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
        factory: createNamedClient,
      }),
  });
}

/** A client that knows the address its one socket leads to, and says so to each exchange that it carries. */
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
}

function createNamedClient(origin: URL, settings: object): Dispatcher {
  const carrier: Carrier = { remoteAddress: undefined };
  const { connect, ...rest } = settings as Client.Options & { connect: buildConnector.connector };
  const named: buildConnector.connector = (target, callback) =>
    connect(target, (...outcome) => {
      carrier.remoteAddress = outcome[1]?.remoteAddress;
      callback(...outcome);
    });
  return new NamedClient(origin, { ...rest, connect: named }, carrier);
}
