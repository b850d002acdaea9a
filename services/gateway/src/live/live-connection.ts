import type { IncomingMessage } from "node:http";
import { AppError, isAppError, MiB, requestIdOf, seconds } from "@signalbox/core";
import type { ClientAddress } from "@signalbox/http";
import type { Logger } from "@signalbox/runtime";
import type { GraphQLFormattedError } from "graphql";
import {
  CloseCode,
  GRAPHQL_TRANSPORT_WS_PROTOCOL,
  type Message,
  MessageType,
  parseMessage,
  type SubscribePayload,
} from "graphql-ws";
import type { WebSocket } from "ws";
import { graphErrorOf } from "../documents/graph-error.ts";
import { operationRequestFrom } from "../documents/operation-request.ts";
import type { Operations } from "../operations/operations.ts";
import type { Live } from "./live.ts";
import type { LiveCaller, LiveCallers } from "./live-caller.ts";
import type { LiveStream } from "./live-stream.ts";
import type { SocketSignIn } from "./socket-sign-in.ts";

export interface ConnectionContext {
  readonly live: Live;
  readonly callers: LiveCallers;
  readonly operations: Operations;
  readonly signIn: SocketSignIn;
  readonly clientAddress: ClientAddress;
  readonly log: Logger;
}

type Members = Readonly<Record<string, unknown>>;

const initWithinMs = seconds(3);
const pingMs = seconds(12);
const operationsMax = 100;
/** Most bytes that wait for a client which goes on sending: its pings have answers, too. */
const unreadBytesMax = 8 * MiB;
/** The limit for the reason of a close frame. */
const reasonBytesMax = 123;
const tryLater = 1013;

/**
 * One connection by the protocol graphql-transport-ws. The server of graphql-ws finds operations by their ids alone, and
 * loses one that is completed, and whose id is used again, before it has begun. Here the connection owns each operation
 * from its message on, and ends it at its completion, at the close and with the credential.
 */
export class LiveConnection {
  readonly address: string;
  readonly request: IncomingMessage;
  readonly #context: ConnectionContext;
  readonly #socket: WebSocket;
  readonly #requestId: string;
  /** Operations in hand, also those that the client has completed and that are still being prepared. */
  readonly #operations = new Set<SocketOperation>();
  readonly #init: NodeJS.Timeout;
  readonly #pings: NodeJS.Timeout;
  #isInitialised = false;
  #isAlive = true;
  /** Null until the connection is acknowledged. */
  #caller: LiveCaller | null = null;

  constructor(context: ConnectionContext, socket: WebSocket, request: IncomingMessage) {
    this.#context = context;
    this.#socket = socket;
    this.request = request;
    this.address = context.clientAddress(request);
    this.#requestId = requestIdOf(request.headers["x-request-id"]);
    this.#init = setTimeout(
      () => this.close(CloseCode.ConnectionInitialisationTimeout, "Connection initialisation timeout"),
      initWithinMs,
    );
    this.#pings = setInterval(() => this.#ping(), pingMs);
    socket.on("message", (data) => this.#receive(String(data)));
    socket.on("ping", () => this.#endUnread());
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    socket.on("error", (error) => context.log.debug({ error }, "a live connection failed"));
    socket.once("close", () => this.#end());
    if (socket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL)
      this.close(CloseCode.SubprotocolNotAcceptable, "Subprotocol not acceptable");
  }

  /** Ends every operation, and closes the connection. */
  close(code: number, reason: string): void {
    this.#end();
    const bytes = Buffer.from(reason);
    this.#socket.close(code, bytes.length > reasonBytesMax ? "" : bytes);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Gives everything back at once: the peer may take its time to answer a close. */
  #end(): void {
    clearTimeout(this.#init);
    clearInterval(this.#pings);
    for (const operation of this.#operations) operation.end();
    if (this.#caller) this.#context.callers.close(this.#caller);
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #receive(text: string): void {
    if (!this.#isOpen) return;
    this.#isAlive = true;
    this.#endUnread();
    this.#handle(text).catch((error: unknown) => {
      if (!this.#isOpen) return;
      if (isAppError(error)) return this.#refuse(error);
      this.#context.log.error({ error }, "a live connection failed");
      this.close(CloseCode.InternalServerError, "Internal error");
    });
  }

  #endUnread(): void {
    if (this.#socket.bufferedAmount > unreadBytesMax) this.terminate();
  }

  async #handle(text: string): Promise<void> {
    const message = messageIn(text);
    switch (message?.type) {
      case MessageType.ConnectionInit:
        return this.#begin(message.payload);
      case MessageType.Ping:
        return this.#answerPing(message.payload);
      case MessageType.Pong:
        return;
      case MessageType.Subscribe:
        return this.#subscribe(message.id, message.payload);
      case MessageType.Complete:
        return this.#find(message.id)?.end();
      default:
        return this.close(CloseCode.BadRequest, "Invalid message");
    }
  }

  async #begin(params: Members | undefined): Promise<void> {
    if (this.#isInitialised) return this.close(CloseCode.TooManyInitialisationRequests, "Too many initialisations");
    this.#isInitialised = true;
    clearTimeout(this.#init);
    const { signIn, callers, live } = this.#context;
    const who = (await signIn.fromInit(params, this)) ?? { credential: null, principal: null };
    if (!this.#isOpen) return;
    const opening = { ...who, requestId: this.#requestId, clientAddress: this.address };
    this.#caller = callers.open("socket", opening, {
      change: (caller) => live.recheck(caller),
      end: (reason) => this.#refuse(reason),
    });
    await this.#send(JSON.stringify({ type: MessageType.ConnectionAck }));
  }

  /** Answers a ping, which may bring the next credential. */
  async #answerPing(payload: Members | undefined): Promise<void> {
    const renewed = this.#caller && (await this.#context.signIn.fromPing(payload, this.address));
    if (renewed) this.#caller?.renew(renewed.credential, renewed.principal);
    await this.#send(JSON.stringify({ type: MessageType.Pong, payload }));
  }

  async #subscribe(id: string, payload: SubscribePayload): Promise<void> {
    if (this.#caller === null) return this.close(CloseCode.Unauthorized, "Unauthorized");
    if (this.#find(id)) return this.close(CloseCode.SubscriberAlreadyExists, "An operation has this id already");
    const operation = new SocketOperation(id);
    this.#operations.add(operation);
    try {
      const errors = await this.#run(operation, payload, this.#caller);
      await (errors ? this.#sendErrors(operation, errors) : this.#sendOf(operation, MessageType.Complete));
    } catch (error) {
      const failure = graphErrorOf(error);
      const isFault = failure.extensions.code === "INTERNAL" && !operation.isOver && this.#isOpen;
      if (isFault) this.#context.log.error({ error }, "a subscription failed");
      await this.#sendErrors(operation, [failure.toJSON()]);
    } finally {
      operation.end();
      this.#operations.delete(operation);
    }
  }

  /** Runs an operation to its end. Returns the errors of one that is refused as a whole. */
  async #run(
    operation: SocketOperation,
    payload: SubscribePayload,
    caller: LiveCaller,
  ): Promise<readonly GraphQLFormattedError[] | null> {
    const { live, operations, signIn } = this.#context;
    if (this.#operations.size > operationsMax)
      throw new AppError("rate_limited", `A connection has at most ${operationsMax} operations.`);
    signIn.count(caller.principal, this.address);
    const request = operationRequestFrom(payload);
    const prepared = operations.prepare(request, "everything", caller);
    if ("refusal" in prepared) return prepared.refusal;
    if (prepared.operation.operation !== "subscription") {
      const { principal, requestId, clientAddress } = caller;
      const asking = { principal, requestId, clientAddress, idempotencyKey: null, signal: operation.signal };
      const { body } = await operations.execute(request, asking, "queries and mutations");
      await this.#sendOf(operation, MessageType.Next, body.toString());
      return null;
    }
    const stream = await live.subscribe(request, caller);
    operation.own(stream);
    // A client that is cut off before the first message misses nothing.
    this.#sendCursor(operation);
    for await (const { result } of stream) await this.#sendOf(operation, MessageType.Next, JSON.stringify(result));
    return null;
  }

  /** Finds the operation that has an id now. */
  #find(id: string): SocketOperation | undefined {
    for (const operation of this.#operations) if (operation.id === id && !operation.isOver) return operation;
    return undefined;
  }

  #refuse(error: AppError): void {
    this.close(codeOf(error), error.message);
  }

  #ping(): void {
    if (!this.#isAlive) this.terminate();
    this.#isAlive = false;
    this.#socket.ping();
    for (const operation of this.#operations) this.#sendCursor(operation);
  }

  /** Sends the cursor of a subscription in a ping, which the protocol allows at any time. */
  #sendCursor({ id, cursor }: SocketOperation): void {
    if (cursor === null || !this.#isOpen) return;
    this.#socket.send(JSON.stringify({ type: MessageType.Ping, payload: { id, cursor } }));
  }

  #sendErrors(operation: SocketOperation, payload: readonly GraphQLFormattedError[]): Promise<void> {
    return this.#sendOf(operation, MessageType.Error, JSON.stringify(payload));
  }

  /** Sends a message of an operation, whose payload is JSON; nothing once it is over. */
  async #sendOf({ id, isOver }: SocketOperation, type: MessageType, payload?: string): Promise<void> {
    if (isOver) return;
    const head = JSON.stringify({ id, type });
    await this.#send(payload === undefined ? head : `${head.slice(0, -1)},"payload":${payload}}`);
  }

  /** Resolves when the client's system has taken the message. */
  #send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(text, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function messageIn(text: string): Message | null {
  try {
    return parseMessage(text);
  } catch {
    return null;
  }
}

function codeOf({ code }: AppError): number {
  if (code === "unavailable") return tryLater;
  return code === "rate_limited" ? CloseCode.TooManyInitialisationRequests : CloseCode.Forbidden;
}

/**
 * An operation of a connection, from its message until the last of its answer. After a client has completed it, another
 * one may have its id while this one is still being prepared.
 */
class SocketOperation {
  readonly id: string;
  readonly #over = new AbortController();
  #stream: LiveStream | null = null;

  constructor(id: string) {
    this.id = id;
  }

  /** Aborts when the client has completed the operation, or the connection ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** The stream's current cursor; null for an operation without an open stream. */
  get cursor(): string | null {
    return this.#stream && !this.#stream.isClosed ? this.#stream.cursor() : null;
  }

  /** Owns the stream from now on; one that comes too late ends at once. */
  own(stream: LiveStream): void {
    this.#stream = stream;
    if (this.isOver) this.end();
  }

  end(): void {
    this.#over.abort();
    this.#stream?.close();
  }
}
