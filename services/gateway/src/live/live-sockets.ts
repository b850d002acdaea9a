import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError, KiB, requestIdOf, seconds } from "@signalbox/core";
import type { ClientAddress } from "@signalbox/http";
import type { Logger } from "@signalbox/telemetry";
import type { ExecutionArgs, GraphQLError, GraphQLSchema } from "graphql";
import {
  CloseCode,
  type Context,
  handleProtocols,
  MessageType,
  makeServer,
  type SubscribePayload,
  stringifyMessage,
} from "graphql-ws";
import { type WebSocket, WebSocketServer } from "ws";
import { operationRequestFrom } from "../documents/operation-request.ts";
import type { Operations } from "../operations/operations.ts";
import type { Live } from "./live.ts";
import type { LiveCaller, LiveCallers } from "./live-caller.ts";
import { liveErrorOf } from "./live-error.ts";
import type { LiveStream } from "./live-stream.ts";
import { asError, resultOf, resultsOf } from "./socket-results.ts";
import type { SocketSignIn } from "./socket-sign-in.ts";

interface Dependencies {
  readonly live: Live;
  readonly callers: LiveCallers;
  readonly operations: Operations;
  readonly schema: () => GraphQLSchema;
  readonly signIn: SocketSignIn;
  readonly clientAddress: ClientAddress;
  readonly log: Logger;
}

/** The state of one connection. */
interface Connection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly address: string;
  readonly requestId: string;
  /** Aborted at the end of the connection: its queries are abandoned. */
  readonly gone: AbortController;
  /** The streams of the subscriptions by their ids. */
  readonly streams: Map<string, LiveStream>;
  caller: LiveCaller | null;
}

type SocketContext = Context<Record<string, unknown>, Connection>;

const messageBytesMax = 64 * KiB;
const initWithinMs = seconds(3);
const pingMs = seconds(12);
const socketsMax = 10_000;
const subscriptionsMax = 100;
const farewellMs = 100;
const closing = { restart: 1012, tryLater: 1013 } as const;

/** Subscriptions over WebSocket, by the protocol graphql-transport-ws. */
export class LiveSockets {
  readonly #dependencies: Dependencies;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax, handleProtocols });
  readonly #connections = new Set<Connection>();
  readonly #protocol;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#protocol = makeServer<Record<string, unknown>, Connection>({
      connectionInitWaitTimeout: initWithinMs,
      onConnect: (context) => this.#connect(context),
      onPing: (context, payload) => this.#renew(context, payload),
      onSubscribe: (context, id, payload) => this.#subscribe(context, id, payload),
      subscribe: ((args: ExecutionArgs) => resultsOf(args.contextValue as LiveStream)) as never,
      execute: ((args: ExecutionArgs) => args.contextValue) as never,
    });
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
    for (const { socket } of connections) {
      socket.close(closing.restart, "Service restart");
      await sleep(pauseMs);
    }
  }

  close(): void {
    for (const { socket } of this.#connections) socket.terminate();
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const { clientAddress, log } = this.#dependencies;
    const address = clientAddress(request);
    const gone = new AbortController();
    const connection = {
      socket,
      request,
      address,
      gone,
      requestId: requestIdOf(request.headers["x-request-id"]),
      streams: new Map(),
      caller: null,
    };
    this.#connections.add(connection);
    let isAlive = true;
    const pings = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
      for (const id of connection.streams.keys()) sendCursor(connection, id);
    }, pingMs);
    socket.on("pong", () => {
      isAlive = true;
    });
    socket.on("error", (error) => log.debug({ error }, "a live connection failed"));
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) =>
          new Promise((resolve, reject) => socket.send(data, (error) => (error ? reject(error) : resolve()))),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on("message", (data) => {
            isAlive = true;
            handle(String(data)).catch((error: unknown) => this.#failed(connection, error));
          });
        },
      },
      connection,
    );
    socket.once("close", (code, reason) => {
      clearInterval(pings);
      this.#forget(connection);
      void closed(code, String(reason));
    });
  }

  /** Closes with 4400 for an unknown message, which is a client error; any other fault is ours. */
  #failed({ socket }: Connection, error: unknown): void {
    const isUnknown = error instanceof Error && error.message.startsWith("Unexpected message");
    if (isUnknown) socket.close(CloseCode.BadRequest, "Unknown message");
    else if (socket.readyState === socket.OPEN) {
      this.#dependencies.log.error({ error }, "a live connection failed");
      socket.close(CloseCode.InternalServerError, "Internal error");
    }
  }

  async #connect({ connectionParams, extra: connection }: SocketContext): Promise<boolean> {
    const { socket, address } = connection;
    const { signIn, callers, live } = this.#dependencies;
    try {
      const who = (await signIn.fromInit(connectionParams, connection)) ?? { credential: null, principal: null };
      if (socket.readyState !== socket.OPEN) return true;
      const opening = { ...who, clientAddress: address };
      connection.caller = callers.open("socket", opening, {
        change: (caller) => live.recheck(caller),
        end: (reason) => void closed(socket, codeOf(reason), reason.message),
      });
      return true;
    } catch (error) {
      if (!isAppError(error)) throw error;
      return closed(socket, codeOf(error), error.message);
    }
  }

  async #renew(
    { extra: { socket, caller, address } }: SocketContext,
    payload: Record<string, unknown> | undefined,
  ): Promise<void> {
    try {
      const renewed = caller && (await this.#dependencies.signIn.fromPing(payload, address));
      if (renewed) caller.renew(renewed.credential, renewed.principal);
    } catch (error) {
      if (!isAppError(error)) throw error;
      closed(socket, codeOf(error), error.message);
    }
  }

  async #subscribe(
    { extra: connection, subscriptions }: SocketContext,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { live, operations, schema, signIn } = this.#dependencies;
    const { caller, address, requestId, gone } = connection;
    try {
      if (caller === null) throw new AppError("unauthorized", "Send connection_init first.");
      if (Object.keys(subscriptions).length > subscriptionsMax)
        throw new AppError("rate_limited", `A connection has at most ${subscriptionsMax} operations.`);
      signIn.count(caller.principal, address);
      const request = operationRequestFrom(payload);
      const origin = { requestId, clientAddress: address };
      const { principal } = caller;
      const prepared = operations.prepare(request, "everything", { principal, ...origin });
      if ("refusal" in prepared) return prepared.refusal.map(asError);
      const { document, operation } = prepared;
      const asking = { ...origin, principal, idempotencyKey: null, signal: gone.signal };
      const contextValue =
        operation.operation === "subscription"
          ? begin(connection, id, await live.subscribe(request, caller, origin))
          : resultOf(JSON.parse((await operations.execute(request, asking, "queries and mutations")).body.toString()));
      return { schema: schema(), document, operationName: operation.name?.value, contextValue };
    } catch (error) {
      const failure = liveErrorOf(error);
      if (failure.extensions.code === "INTERNAL") this.#dependencies.log.error({ error }, "a subscription failed");
      return [failure];
    }
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    connection.gone.abort();
    if (connection.caller) this.#dependencies.callers.close(connection.caller);
  }
}

/** Keeps a new stream and sends its first cursor, so that a client cut off before the first message misses nothing. */
function begin(connection: Connection, id: string, stream: LiveStream): LiveStream {
  connection.streams.set(id, stream);
  sendCursor(connection, id);
  return stream;
}

/** Sends the cursor of a subscription in a ping, which the protocol allows at any time. */
function sendCursor({ socket, streams }: Connection, id: string): void {
  const stream = streams.get(id);
  if (!stream || stream.isClosed) streams.delete(id);
  else socket.send(stringifyMessage({ type: MessageType.Ping, payload: { id, cursor: stream.cursor() } }));
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function codeOf({ code }: AppError): number {
  if (code === "unavailable") return closing.tryLater;
  return code === "rate_limited" ? CloseCode.TooManyInitialisationRequests : CloseCode.Forbidden;
}

/** Returns true, because graphql-ws would close it again. */
function closed(socket: WebSocket, code: number, reason: string): true {
  socket.close(code, reason.slice(0, 120));
  return true;
}
