import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { KiB } from "@signalbox/core";
import { handleProtocols } from "graphql-ws";
import { type WebSocket, WebSocketServer } from "ws";
import { type ConnectionContext, LiveConnection } from "./live-connection.ts";

const messageBytesMax = 64 * KiB;
const socketsMax = 10_000;
const farewellMs = 100;
const serviceRestart = 1012;

export class LiveSockets {
  readonly #context: ConnectionContext;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax, handleProtocols });
  readonly #connections = new Set<LiveConnection>();

  constructor(context: ConnectionContext) {
    this.#context = context;
  }

  /** Handles an upgrade of `/graphql`; any other is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const [path = ""] = (request.url ?? "").split("?");
    if (!/^\/graphql\/?$/.test(path)) refuse(socket, "404 Not Found");
    else if (this.#connections.size >= socketsMax) refuse(socket, "503 Service Unavailable");
    else this.#server.handleUpgrade(request, socket, head, (opened) => this.#open(opened, request));
  }

  /** Closes every connection, spread over the time, so that the clients do not all reconnect at the same moment. */
  async drain(withinMs: number): Promise<void> {
    // The final messages of the subscriptions are still being sent.
    await sleep(farewellMs);
    const connections = [...this.#connections];
    const pauseMs = withinMs / Math.max(1, connections.length);
    for (const connection of connections) {
      connection.close(serviceRestart, "Service restart");
      await sleep(pauseMs);
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.terminate();
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const connection = new LiveConnection(this.#context, socket, request);
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
  }
}

function refuse(socket: Duplex, status: string): void {
  // Both directions: a client that never closes its own would hold the connection.
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
