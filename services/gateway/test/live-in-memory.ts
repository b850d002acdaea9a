import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccessStates, Authenticator, Principal } from "@signalbox/auth";
import { credentialFrom } from "@signalbox/auth";
import { draft, eventOf } from "@signalbox/contracts";
import { AppError, KiB, systemClock } from "@signalbox/core";
import { type EventLog, type LogRecord, publishEvents } from "@signalbox/events";
import type { RateLimits } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";
import { type TestPerson, testPerson } from "@signalbox/testing";
import type { GraphQLSchema } from "graphql";
import { operationRequestFrom } from "../src/documents/operation-request.ts";
import { subscribeFor } from "../src/live/event-stream.ts";
import { Live } from "../src/live/live.ts";
import { LiveCallers } from "../src/live/live-caller.ts";
import { Cursors } from "../src/live/live-cursor.ts";
import { LiveFeed } from "../src/live/live-feed.ts";
import { LiveSockets } from "../src/live/live-sockets.ts";
import { createSocketSignIn } from "../src/live/socket-sign-in.ts";
import { place, schemaOf, sdl, withoutImageId } from "./live-by-hand.ts";
import { MemoryLog } from "./memory-log.ts";
import { testOperations } from "./test-operations.ts";

const accountId = testPerson().accountId;
/** So small that replays read the log as well as the memory of the feed. */
const ringBytesMax = 48 * KiB;
/** So small that a client which reads nothing is noticed after a few messages. */
const connectionBytes = 4 * KiB;
const schemas = { whole: schemaOf(sdl), again: schemaOf(sdl), lacking: schemaOf(withoutImageId(sdl)) };

export type SchemaName = keyof typeof schemas;
export type Access = "revoked" | "narrow";
type Announce = Parameters<AccessStates["onChange"]>[0];

/** The live modules of a gateway as they are, over a log, connections and an account service in memory. */
export class LiveInMemory {
  readonly log = new MemoryLog("signalbox.image.v1");
  readonly live: Live;
  /** Everything that would have ended the process. */
  readonly unhandled: unknown[] = [];
  readonly #cursors = new Cursors(() => ["secret"]);
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #access = new Map<string, Access>();
  readonly #callers: LiveCallers;
  readonly #feed: LiveFeed;
  readonly #metrics;
  readonly #random: Iterator<number>;
  readonly #connections = new Set<Duplex>();
  #schema: GraphQLSchema = schemas.whole;
  #reloads = 0;
  #announce: Announce = () => {};

  constructor(random: Iterator<number>) {
    this.#random = random;
    const { operations, log, metrics } = this.#operations();
    this.#metrics = metrics;
    const runner = { every() {}, defer() {} } as unknown as Runner;
    const health = { startup: () => ({ done() {} }), live() {} };
    const feed = { service: "gateway", instance: "test", log, runner, health, eventLog: this.log };
    this.#feed = new LiveFeed(feed as never, ringBytesMax);
    const schema = () => this.#schema;
    const isServed = () => true;
    this.live = new Live({ feed: this.#feed, cursors: this.#cursors, operations, schema, isServed, log, metrics });
    const authenticator = { authenticate: this.#authenticate } as unknown as Authenticator;
    const accessStates = {
      isBehind: () => false,
      onChange: (announce: Announce) => {
        this.#announce = announce;
        return () => {};
      },
    } as unknown as AccessStates;
    this.#callers = new LiveCallers({ authenticator, accessStates, runner, clock: systemClock });
    const allowed = { take: () => ({ allowed: true }) };
    const rateLimits = { credential: allowed, anonymous: allowed, failedSignIn: allowed } as unknown as RateLimits;
    const signIn = createSocketSignIn({ authenticator, rateLimits, ownOrigins: () => [] });
    const clientAddress = () => "127.0.0.1";
    const sockets = new LiveSockets({
      live: this.live,
      callers: this.#callers,
      operations,
      signIn,
      clientAddress,
      log,
    });
    this.#server.on("upgrade", (...upgraded) => sockets.upgrade(...upgraded));
  }

  async open(): Promise<void> {
    process.on("unhandledRejection", this.#onUnhandled);
    await this.#feed.open(this.live.tell);
    while (!this.#feed.isReady) await nextTurn();
  }

  close(): void {
    process.off("unhandledRejection", this.#onUnhandled);
    for (const connection of this.#connections) connection.destroy();
  }

  readonly #onUnhandled = (error: unknown) => void this.unhandled.push(error);

  person(): TestPerson {
    return testPerson({ accountId });
  }

  /** Opens a connection, whose ends are cut together. */
  connect(): Duplex {
    const [client, server] = duplexPair({ highWaterMark: connectionBytes });
    this.#connections.add(client);
    client.once("close", () => {
      server.destroy();
      this.#connections.delete(client);
    });
    this.#server.emit("connection", server);
    return client;
  }

  /** Publishes changes of one account, each named by its offset. */
  async publish(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const data = { ...eventOf("image.updated").example, changed: [String(this.log.end)] } as never;
      const event = draft("image.updated", { subject: `img_${this.log.end}`, accountId, data });
      const eventLog = { publish: async (records: readonly LogRecord[]) => this.log.append(...records) };
      const tracer = { traceparent: () => undefined };
      await publishEvents(
        { clock: systemClock, tracer, eventLog: eventLog as unknown as EventLog, service: "images" } as never,
        [event],
      );
    }
  }

  change({ token, principal }: TestPerson, access: Access): void {
    this.#access.set(token, access);
    this.#announce({ kind: "credential", id: principal.credential.id } as never);
  }

  deploy(name: SchemaName): void {
    this.#schema = schemas[name];
    this.#reloads++;
  }

  offsetOf(cursor: string): bigint {
    return this.#cursors.open("imageChanged", cursor)?.get(place) ?? -1n;
  }

  async subscriptions(): Promise<number> {
    return Number(/^signalbox_live_subscriptions(?:{[^}]*})? (\d+)/m.exec(await this.#metrics.text())?.[1]);
  }

  async pause(turnsMax: number): Promise<void> {
    for (let turns = this.#random.next().value % turnsMax; turns > 0; turns--) await nextTurn();
  }

  readonly #authenticate = async ({ value }: { readonly value: string }): Promise<Principal> => {
    await this.pause(6);
    const principal = JSON.parse(Buffer.from(value, "base64url").toString());
    const access = this.#access.get(value);
    if (access === "revoked") throw new AppError("unauthorized", "The credential is not valid.");
    const known = { ...principal, credential: { kind: "token", id: principal.jti, authTimeMs: 0 }, expiresAt: null };
    return { ...known, epoch: 0, scopes: new Set(access === "narrow" ? [] : principal.granted) };
  };

  #operations() {
    const schemaNow = () => this.#schema;
    const supergraph = {
      get schema() {
        return schemaNow();
      },
      execute: async () => {
        await this.pause(4);
        return { data: '{"image":null}', objects: 1, errors: [] };
      },
      close: async () => {},
    };
    return testOperations({ supergraph, limits: () => ({ tokensMax: 4_000 + this.#reloads }) });
  }

  /** Answers with an event stream, as the edge does. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const credential = credentialFrom(request.headers);
      const principal = credential && (await this.#authenticate(credential as never));
      const query = new URL(request.url ?? "", "http://gateway").searchParams.get("query");
      const resumeAfter = (request.headers["last-event-id"] as string | undefined) ?? null;
      const asked = { ...operationRequestFrom({ query }), resumeAfter };
      const who = { principal, credential, requestId: "r-1", clientAddress: "127.0.0.1" };
      const stream = await subscribeFor(this.live, this.#callers, who, asked);
      if (response.destroyed) return void stream.destroy();
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      await pipeline(stream, response);
    } catch {
      response.destroy();
    }
  }
}
