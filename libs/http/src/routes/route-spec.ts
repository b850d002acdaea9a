import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Caller, Principal } from "@signalbox/auth";
import type { AccessKind, Audited, Scope } from "@signalbox/contracts";
import type { Tx } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { z } from "zod";
import type { Idempotency } from "../idempotency/idempotency.ts";
import type { HttpResponse } from "../responses/http-response.ts";
import type { PathParams } from "./path-params.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete" | "options";

/** Who may call a route. `access` is judged against the account's state: by default `read` for GET, else `write`. */
export type RouteAuth =
  | "anonymous"
  | {
      readonly scopes: readonly Scope[];
      readonly access?: AccessKind;
      /** The caller proved who they are within 15 minutes, or holds a key with `account:security`. */
      readonly stepUp?: true;
      /** Names the changes that alone need that, in words: the operation asks for it once it knows what changes. */
      readonly stepUpFor?: string;
      /** Anonymous callers are let in with `principal` null; a credential that is bad is still refused. */
      readonly optional?: true;
    };

/** A number of bytes, or where to ask for it at each request when it is a live property. */
export type ByteLimit = number | (() => number);

/**
 * What a route reads. A schema alone is a JSON body. `json` adds options: with `mergePatch` the media type
 * `application/merge-patch+json` is taken too. With `multipart` the handler reads `input.request` itself and `body` is
 * null, unless a JSON body came and `json` is there. `raw` hands over the bytes as they came; `unread` leaves them to the
 * handler, which can refuse before it reads, and reads with `readBody`.
 */
export type BodySpec =
  | z.ZodType
  | {
      readonly json: z.ZodType;
      readonly mergePatch?: true;
      readonly maxBytes?: ByteLimit;
      /**
       * The schema as it is for this caller, asked for when a body has failed: what they have already may pass, where
       * nobody could choose it now.
       */
      readonly forCaller?: (principal: Principal) => Promise<z.ZodType>;
    }
  | {
      readonly multipart: true;
      readonly json?: z.ZodType;
      /** The parts, for the documentation. */
      readonly form?: z.ZodType;
      readonly maxBytes?: ByteLimit;
    }
  | { readonly raw: RawBody }
  | { readonly unread: RawBody };

/** Bytes as they came, of any media type unless they should be JSON. */
export interface RawBody {
  readonly maxBytes: ByteLimit;
  readonly description?: string;
  /** The JSON that the bytes should be, for the documentation: another media type is refused, and nothing else is judged. */
  readonly json?: z.ZodType;
  readonly example?: string;
  /** The only types that are taken, without a coding; another one is refused before a byte is read. */
  readonly mediaTypes?: readonly string[];
  /** A file, which may arrive as slowly as an upload: the deadline of the answer begins when it is there. */
  readonly isFile?: true;
}

/**
 * The body of a status: JSON of a schema, nothing, our error body, or bytes of one of several media types. Their schema and
 * example are for the documentation.
 */
export type ResponseSpec =
  | z.ZodType
  | "empty"
  | "error"
  | { readonly content: readonly string[]; readonly schema?: z.ZodType; readonly example?: string };

/**
 * Which house style errors of a route have (CONTRACT §2): the area decides some codes and members. Those of `graphql` are in
 * the form of a GraphQL answer (CONTRACT §8).
 */
export type ErrorStyle = "plain" | "account" | "configuration" | "image" | "graphql";

type BodyOf<B> = B extends z.ZodType
  ? z.output<B>
  : B extends { readonly multipart: true; readonly json: infer J extends z.ZodType }
    ? z.output<J> | null
    : B extends { readonly json: infer J extends z.ZodType }
      ? z.output<J>
      : B extends { readonly raw: unknown }
        ? Buffer
        : null;

type PrincipalOf<A> = A extends "anonymous"
  ? null
  : A extends { readonly optional: true }
    ? Principal | null
    : Principal;

/** The input of a handler: everything parsed, and who is asking from the verified credential alone. */
export interface RouteInput<Who = Principal | null, Params = unknown, Query = unknown, Body = unknown> {
  readonly principal: Who;
  /** The principal with the request it makes, for operations. @throws Error where nobody has to say who they are. */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The media type agreed on with the client, of those the route declares for success. */
  readonly mediaType: string;
  /** Aborts when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Adds members to the one log line of the request. */
  note(members: object): void;
  readonly idempotency: Idempotency;
  /** Runs the work in a transaction of the service's database, for a handler whose flow `write` does not fit. */
  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/**
 * A route that changes one row. The framework opens the transaction, finds the row locked (null is 404), judges `If-Match`,
 * changes it, stores the answer for `Idempotency-Key`, commits and answers. `change` may run again after a lost race.
 */
export interface RouteWrite<Input, Row, Result> {
  /** Reads the row without a lock, for rows that hardly ever have two writers at once; see `RowWrite.read`. */
  readonly read?: (input: Input) => Promise<Row | null>;
  /** Finds the row and keeps others from changing it until the transaction ends. */
  readonly find: (tx: Tx, input: Input) => Promise<Row | null>;
  /** The validator that `If-Match` is held against. */
  readonly etag?: (row: Row) => string;
  readonly change: (tx: Tx, row: Row, input: Input) => Promise<Result>;
  /** Maps every outcome to its answer. What is not a success is not stored for `Idempotency-Key`. */
  readonly answer: (result: Result, input: Input) => HttpResponse;
}

/** A route that makes something, in one transaction with the stored answer of its `Idempotency-Key`. */
export interface RouteCreate<Input, Result> {
  readonly run: (tx: Tx, input: Input) => Promise<Result>;
  /** Maps every outcome to its answer. What is not a success is not stored for `Idempotency-Key`. */
  readonly answer: (result: Result, input: Input) => HttpResponse;
}

type InputOf<Path extends string, A, P, Q, B> = RouteInput<
  PrincipalOf<A>,
  P extends z.ZodType ? z.output<P> : PathParams<Path>,
  Q extends z.ZodObject ? z.output<Q> : Record<never, never>,
  BodyOf<B>
>;

/**
 * One declaration says everything about a route: it is parsed by it, in and out, and documented from it. It has one of
 * `handle`, `write` and `create`.
 */
export interface RouteSpec<
  Path extends string = string,
  A extends RouteAuth = RouteAuth,
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodObject | undefined = z.ZodObject | undefined,
  B extends BodySpec | undefined = BodySpec | undefined,
  Row = unknown,
  Result = unknown,
> {
  /**
   * The operation's name in OpenAPI, unique in the product: that of the graph's mutation or field for the same, such as
   * `rotateApiKey` or `apiKeys`. Where the graph has none, a read is a noun and a change a verb with its noun.
   */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: A;
  /** What it leaves in the audit. Every route that writes says so; null is for one that leaves nothing there. */
  readonly audit?: Audited;
  /** Narrows path parameters; one that does not fit is 404. Left out, every parameter is text. */
  readonly params?: P;
  /** Query parameters from text; unknown, repeated and unfit ones are 400. Left out, none is allowed. */
  readonly query?: Q;
  readonly body?: B;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /**
   * Honours `Idempotency-Key`. A `handle` that writes calls `input.idempotency.complete(tx, response)` in the transaction
   * of the effect; `write` and `create` do so by themselves. `"sealed"` keeps the stored answer encrypted, for answers that show a secret.
   */
  readonly idempotent?: true | "sealed";
  /** The name of another rate-limit policy, or `"none"`. */
  readonly rateLimit?: string;
  /** The policy by which callers without credentials are counted alone, where it is not that of all anonymous ones. */
  readonly anonymousRateLimit?: string;
  /** `Cache-Control` of successful answers; `private, no-cache` for GET with an ETag and `no-store` otherwise. */
  readonly cache?: string;
  /** More members of `Vary` than `Accept, Authorization, X-API-Key`. */
  readonly vary?: readonly string[];
  /** Milliseconds for this route instead of `limits.requestTimeoutSeconds`; null for streams without an end. */
  readonly deadlineMs?: number | null;
  /** The handler reads `Accept` itself: it knows more about what it can make than the list of media types says. */
  readonly ownNegotiation?: true;
  /** The query is the client's own: it is neither judged nor read, and nothing in it is a credential. */
  readonly ownQuery?: true;
  readonly errors?: ErrorStyle;
  /** Examples of path parameters by their names, for the documentation. */
  readonly exampleIds?: Readonly<Record<string, string>>;
  /** Since when it is deprecated and when it goes (RFC 9745, RFC 8594), each a time. */
  readonly deprecated?: { readonly since: Date; readonly sunset: Date };
  /** Set by the framework alone, on the route that answers for paths nobody declared. */
  readonly unmatched?: true;
  readonly handle?: (input: InputOf<Path, A, P, Q, B>) => HttpResponse | Promise<HttpResponse>;
  readonly write?: RouteWrite<InputOf<Path, A, P, Q, B>, Row, Result>;
  readonly create?: RouteCreate<InputOf<Path, A, P, Q, B>, Result>;
}

/** A route as the framework keeps it. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the handler was checked against its own schemas when it was declared.
  readonly spec: RouteSpec<string, RouteAuth, any, any, any, any, any>;
}
