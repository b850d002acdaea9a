import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface TcpProxy {
  readonly port: number;
  /** Returns the URL with the proxy's address. */
  urlFor(url: string): string;
  /** Drops all traffic silently while connections stay open, like a lost network. */
  pause(): void;
  /** Delivers the held traffic in order, and all later traffic. */
  resume(): void;
  /** Holds the traffic of the present connections until the returned function is called; new connections are served. */
  hold(): () => void;
  /** Resets the present connections; new ones are served. */
  cut(): void;
  /** Resets the connections and refuses new ones, like an engine that is down. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  accept(): Promise<void>;
  /** Delays each piece of data, both ways. */
  setLatency(milliseconds: number): void;
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * Stands between a client and an engine on 127.0.0.1, to cut off the engine for this client alone. Kafka clients
 * connect to the address that the broker advertises: start it with `advertisedPort` set to the port of the proxy.
 */
export async function createTcpProxy(target: { port: number; host?: string }): Promise<TcpProxy> {
  const traffic = new Forwarding(target);
  const listen = async (port: number): Promise<Server> => {
    const created = createServer({ allowHalfOpen: true }, (client) => traffic.join(client));
    created.listen(port, "127.0.0.1");
    await once(created, "listening");
    return created;
  };
  let server: Server | null = await listen(0);
  const { port } = server.address() as AddressInfo;

  const refuse = async () => {
    const closing = server;
    server = null;
    const closed = closing && new Promise((resolve) => closing.close(resolve));
    traffic.cut();
    await closed;
  };

  return {
    port,
    // Without the Unix socket of PostgreSQL, which would go round the proxy.
    urlFor: (url) => url.replace(/127\.0\.0\.1:\d+|localhost:\d+/, `127.0.0.1:${port}`).replace(/\?host=%2F[^&]*$/, ""),
    pause: () => traffic.pause(),
    resume: () => traffic.resume(),
    hold: () => traffic.hold(),
    cut: () => traffic.cut(),
    refuse,
    accept: async () => {
      server ??= await listen(port);
    },
    setLatency: (milliseconds) => {
      traffic.latencyMs = milliseconds;
    },
    get connections() {
      return traffic.connections;
    },
    close: async () => {
      traffic.resume();
      await refuse();
    },
  };
}

/** The connections of a proxy and the faults on them. */
class Forwarding {
  readonly #target: { port: number; host?: string };
  readonly #sockets = new Set<Socket>();
  #gate: PromiseWithResolvers<void> | null = null;
  readonly #held = new WeakMap<Socket, Promise<void>>();
  latencyMs = 0;

  constructor(target: { port: number; host?: string }) {
    this.#target = target;
  }

  get connections(): number {
    return this.#sockets.size / 2;
  }

  join(client: Socket): void {
    const { port, host = "127.0.0.1" } = this.#target;
    const engine = connect({ port, host, allowHalfOpen: true });
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => reset(other));
      socket.on("close", () => this.#sockets.delete(socket));
      void this.#forward(socket, other);
    }
  }

  pause(): void {
    this.#gate ??= Promise.withResolvers();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = null;
  }

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const socket of this.#sockets) this.#held.set(socket, promise);
    return resolve;
  }

  cut(): void {
    for (const socket of this.#sockets) reset(socket);
  }

  async #forward(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const bytes of from) {
        if (this.latencyMs > 0) await sleep(this.latencyMs);
        while (this.#gate) await this.#gate.promise;
        await this.#held.get(from);
        if (!to.write(bytes)) await once(to, "drain");
      }
      to.end();
    } catch {
      reset(from);
      reset(to);
    }
  }
}

/**
 * Resets a connection. One whose end is pending can only be destroyed: libuv refuses to reset it, Node drops the handle
 * all the same, and the process would never exit.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
