import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { answerClientError, type ErrorResponses, endWithResponse } from "./error-response.ts";
import { RequestScope } from "./request-scope.ts";
import type { UpgradeListener } from "./service-context.ts";

/**
 * Time for which waiting connections are accepted. Under a load with one in each turn of the loop there is no end to
 * them.
 */
const waitingMsMax = 1_000;

/** Methods of routes, for the refusal of CONNECT. */
const allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/**
 * Tracks running requests: a drain waits for them, a bad request cannot corrupt an answer, and none outlives its
 * connection. Every response emits `close` exactly once, whatever happens to the connection.
 */
export class Traffic {
  readonly #server: Server;
  readonly #errorResponse: ErrorResponses;
  // By connection: one Set for all, with constant additions and deletions, leaves a chain of dead tables behind. They
  // keep finished requests alive through every small collection, and each of these then takes twice as long.
  readonly #connections = new Map<Duplex, ServerResponse[]>();
  readonly #upgraded = new Set<Duplex>();
  readonly #drained = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  #taken = 0;
  #leaving = false;
  #draining = false;

  constructor(
    server: Server,
    listener: RequestListener,
    upgrade: UpgradeListener | undefined,
    errorResponse: ErrorResponses,
  ) {
    this.#server = server;
    this.#errorResponse = errorResponse;
    server.on("connection", (socket) => this.#onConnection(socket));
    server.on("request", (request, response) => this.#onRequest(request, response, listener));
    server.on("checkExpectation", (_request, response) =>
      this.#refuse(response, 417, "Only Expect: 100-continue is supported."),
    );
    server.on("checkContinue", (request, response) => this.#onExpectation(request, response, listener));
    server.on("timeout", (socket) => this.#onStandstill(socket));
    server.on("clientError", (error, socket) => this.#onClientError(error, socket));
    server.on("connect", (_request, socket) => this.#onTunnel(socket));
    if (upgrade) server.on("upgrade", (...upgraded) => this.#onUpgrade(upgraded, upgrade));
  }

  /** Returns true while a request of the connection has no complete answer. */
  isAnswering(socket: Duplex): boolean {
    return this.#answersOf(socket).length > 0;
  }

  /** Asks clients to close their connections. Requests are still accepted. */
  leave(): void {
    this.#leaving = true;
  }

  /**
   * Accepts no more connections, and waits for running requests. An idle connection stays open for `idleMs`: a request
   * may be on its way, and only its client can close it without losing one.
   */
  async drain(idleMs: number): Promise<void> {
    // As long as the listener is open, clients keep their connections: asked to close them, they would open new ones,
    // and one of those is lost when the listener closes.
    this.#leaving = false;
    await this.#takeWaiting();
    this.#leaving = true;
    // Not http's own close: it would immediately reset connections with a request on its way.
    NetServer.prototype.close.call(this.#server);
    for (const response of this.#inHand()) if (!response.headersSent) response.setHeader("connection", "close");
    const timer = setTimeout(this.#left.resolve, idleMs);
    if (this.#connections.size > 0) await this.#left.promise;
    clearTimeout(timer);
    this.#draining = true;
    this.#server.closeIdleConnections();
    if (this.#inHand().length > 0) await this.#drained.promise;
  }

  /** Counts the requests with an incomplete answer. */
  inHand(): number {
    return this.#inHand().length;
  }

  /** Ends every connection, with running requests too. */
  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of [...this.#upgraded, ...this.#connections.keys()]) socket.destroy();
    await closed;
  }

  #answersOf(socket: Duplex): ServerResponse[] {
    return this.#connections.get(socket) ?? [];
  }

  #inHand(): ServerResponse[] {
    return [...this.#connections.values()].flat();
  }

  /**
   * Accepts the connections in the system's queue. It resets them, with their requests, when the listener closes; Node
   * accepts one in each turn of its loop.
   */
  async #takeWaiting(): Promise<void> {
    const over = AbortSignal.timeout(waitingMsMax);
    await turnOfLoop();
    for (let before = -1; before < this.#taken && !over.aborted; ) {
      before = this.#taken;
      await turnOfLoop();
    }
  }

  #onConnection(socket: Duplex): void {
    this.#taken++;
    this.#connections.set(socket, []);
    socket.once("close", () => this.#forget(socket));
  }

  /** Ends what its connection can no longer carry: Node forgets answers that wait for their turn. */
  #forget(socket: Duplex): void {
    const answers = this.#answersOf(socket);
    this.#connections.delete(socket);
    for (const response of answers) response.destroy();
    if (this.#connections.size === 0 && !this.#server.listening) this.#left.resolve();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const answers = this.#answersOf(request.socket);
    answers.push(response);
    if (this.#leaving) response.setHeader("connection", "close");
    response.once("close", () => {
      answers.splice(answers.indexOf(response), 1);
      // An answer that was given up while it waited for its turn would hold back those behind it.
      if (!response.writableFinished) request.socket.destroy();
      if (!this.#draining) return;
      this.#server.closeIdleConnections();
      if (this.#inHand().length === 0) this.#drained.resolve();
    });
    const hosts = countHosts(request);
    if (hosts > 1) this.#refuse(response, 400, "There is more than one Host header.");
    else if (hosts === 0 && request.httpVersion === "1.1") this.#refuse(response, 400, "The Host header is missing.");
    else listener(request, response);
  }

  /**
   * Sends 100 when the body is first read. A request refused by its headers is refused before its body is sent, and
   * because the client may send it anyway, the connection ends with the refusal.
   */
  #onExpectation(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const { shouldKeepAlive } = response;
    const onListener = (event: string | symbol): void => {
      if ((event !== "data" && event !== "readable") || response.headersSent) return;
      request.off("newListener", onListener);
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    };
    request.on("newListener", onListener);
    response.shouldKeepAlive = false;
    this.#onRequest(request, response, listener);
  }

  /**
   * Disconnects a client that reads nothing of its answer and only occupies memory. A handler may take longer than
   * this.
   */
  #onStandstill(socket: Socket): void {
    const waitsForUs = this.isAnswering(socket) && socket.writableLength === 0;
    if (!waitsForUs) socket.destroy();
  }

  #onClientError(error: Error, socket: Duplex): void {
    const isAnswering = this.#answersOf(socket).some((response) => response.socket === socket && response.headersSent);
    if (isAnswering) socket.destroy();
    else answerClientError(error, socket, this.#errorResponse);
  }

  #refuse(response: ServerResponse, status: 400 | 417, message: string): void {
    const close = { headers: { connection: "close" } };
    const { headers, body } = this.#errorResponse(status, "invalid_request", message, close);
    response.writeHead(status, headers).end(body);
  }

  /**
   * Refuses CONNECT once the requests before it are answered. Node has taken its own listeners off the connection: its
   * end would not be seen.
   */
  #onTunnel(socket: Duplex): void {
    const end = () => socket.destroy();
    socket.on("error", end).on("timeout", end).on("end", end).resume();
    const refusal = this.#errorResponse(405, "method_not_allowed", "CONNECT is not supported.", {
      headers: { allow },
    });
    const refuse = () => endWithResponse(socket, refusal);
    const last = this.#answersOf(socket).at(-1);
    if (last) last.once("close", refuse);
    else refuse();
  }

  #onUpgrade([request, socket, head]: Parameters<UpgradeListener>, upgrade: UpgradeListener): void {
    this.#upgraded.add(socket);
    this.#forget(socket);
    // Without a listener, the reset of one client would crash the process.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#upgraded.delete(socket));
    (socket as Socket).setTimeout(0);
    const fields = { upgrade: request.url?.split("?", 1)[0] };
    new RequestScope(fields, () => socket.destroy()).run(() => upgrade(request, socket, head));
  }
}

/** Counts the raw headers: Node keeps the first of two, and a proxy in front may have used the second. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}
