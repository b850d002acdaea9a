import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller, Principal } from "@signalbox/auth";
import { type AppError, requestIdOf } from "@signalbox/core";
import type { Attributes, Labels, Logger, RequestScope } from "@signalbox/runtime";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { Negotiate } from "../request/negotiation.ts";
import { ClientGone } from "../request/read-body.ts";
import type { HttpResponse } from "../routes/http-response.ts";
import { type IdempotencyClaim, noIdempotency } from "../routes/idempotency.ts";
import type { ErrorStyle, Method, Route, RouteAccess, RouteInput } from "../routes/route-spec.ts";
import type { CompiledBody } from "./compile-body.ts";
import type { Edge } from "./edge.ts";

/** Lines of which the first of each second is written. */
export interface SampledLines {
  /** Time at which the next one is written. */
  nextMs: number;
  /** Lines left out since the last one. */
  unlogged: number;
}

/** A route with everything computed that does not depend on the request. */
export interface CompiledRoute {
  readonly method: Method;
  readonly path: string;
  /** `GET /images/:image_id`, for spans and logs. */
  readonly label: string;
  readonly spec: Route["spec"];
  readonly auth: RouteAccess;
  readonly body: CompiledBody | null;
  readonly errors: ErrorStyle;
  readonly rateLimit: string | null;
  /** Media types of successful answers, the preferred first. */
  readonly mediaTypes: readonly string[];
  readonly negotiate: Negotiate;
  readonly steps: readonly Step[];
  /** Headers of every answer of this route, as alternating names and values. */
  readonly headers: readonly string[];
  readonly vary: string;
  /** The deadline in milliseconds; undefined for the common one, null for none. */
  readonly deadlineMs: number | null | undefined;
  readonly bodySchemas: ReadonlyMap<number, z.ZodType>;
  /** The texts of values that handlers return more than once. */
  readonly lastingTexts: WeakMap<object, string>;
  /** Statuses that the route may answer with, besides those of the framework. */
  readonly statuses: ReadonlySet<number>;
  /** Attributes of the spans of its requests. */
  readonly attributes: Attributes;
  /** Metric labels by method and status, created once. */
  readonly labels: Map<string, Labels<"method" | "route" | "status">>;
  /** Lines of its expected 5xx. */
  readonly expectedLines: SampledLines;
}

/** One request and its answer on their way through the stages. The handler sees it as its `RouteInput`. */
export class Exchange implements RouteInput {
  readonly edge: Edge;
  readonly route: CompiledRoute;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
  principal: Principal | null = null;
  /** The refusal by the state of the caller's account, when only a stored answer may still be returned. */
  blocked: AppError | null = null;
  params: unknown;
  query: unknown = undefined;
  body: unknown = null;
  mediaType = "application/json";
  idempotency: IdempotencyClaim = noIdempotency;
  /** The policies that counted this request, and their remaining allowance, in the form of the headers. */
  rateLimitPolicy = "";
  rateLimit = "";
  /** Ends this request when a promise that it left alone is rejected. */
  scope: RequestScope | null = null;
  /** Index in the list of running requests. */
  place = 0;
  /** Steady time by which it has to answer; null while it has no deadline. */
  deadlineAtMs: number | null = null;
  /** Set with the first answer; later ones are dropped. */
  answered = false;
  status = 0;
  /** True for a 5xx that is no fault of ours. */
  isExpected = false;
  /** The error that was thrown, for the log line. */
  error: unknown = null;
  /** Fields that the handler adds to the log line. */
  notes: object | undefined;
  #caller: Caller | null = null;
  #clientAddress: string | null = null;
  #log: Logger | null = null;
  #controller: AbortController | null = null;
  #abortReason: Error | null = null;
  #goneMs: number | null = null;

  constructor(edge: Edge, route: CompiledRoute, request: IncomingMessage, response: ServerResponse, params: unknown) {
    this.edge = edge;
    this.route = route;
    this.request = request;
    this.response = response;
    this.params = params;
    this.requestId = requestIdOf(request.headers["x-request-id"]);
    this.startedMs = edge.context.clock.steadyMs();
  }

  get headers() {
    return this.request.headers;
  }

  get caller(): Caller {
    const { principal, requestId, clientAddress } = this;
    if (principal === null) throw new Error(`${this.route.label} has no caller`);
    this.#caller ??= { ...principal, requestId, clientAddress };
    return this.#caller;
  }

  get clientAddress(): string {
    this.#clientAddress ??= this.edge.clientAddress(this.request);
    return this.#clientAddress;
  }

  get log(): Logger {
    this.#log ??= this.edge.context.log.child({ requestId: this.requestId, route: this.route.label });
    return this.#log;
  }

  note(members: object): void {
    this.notes = { ...this.notes, ...members };
  }

  /** True once no answer reaches the client any more. */
  get isClientGone(): boolean {
    const { request, response } = this;
    return !response.writableFinished && (response.destroyed || request.socket.destroyed);
  }

  /** Returns the time for which it has run past its deadline, or since it was first asked after its client had left. */
  overdueMs(nowMs: number): number {
    if (this.isClientGone) this.#goneMs ??= nowMs;
    return Math.max(0, nowMs - (this.deadlineAtMs ?? nowMs), nowMs - (this.#goneMs ?? nowMs));
  }

  /** Created on first use: most handlers finish before anything could abort them. The client may be gone by then. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      const look = () => {
        if (this.isClientGone) this.abort(new ClientGone("the client disconnected"));
      };
      this.response.once("close", look);
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
      else look();
    }
    return this.#controller.signal;
  }

  /** The service's database. @throws Error for an app that was created without one. */
  get pool(): Pool {
    if (this.edge.pool === null) throw new Error(`${this.route.label} writes, but the app was created without a pool`);
    return this.edge.pool;
  }

  /** Key under which the changes of one caller run one after the other, on at most one connection of the database. */
  get writer(): string | undefined {
    return this.principal?.accountId;
  }

  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return inTransaction(this.pool, work, { key: this.writer });
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(reason);
  }
}

/** One stage of a request. Returning a response answers it; otherwise the next stage runs. */
export type Step = (exchange: Exchange) => HttpResponse | null | Promise<HttpResponse | null>;
