import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Caller, Principal } from "@signalbox/auth";
import type { AccessKind, Audited, Scope } from "@signalbox/contracts";
import type { Logger } from "@signalbox/runtime";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { RawPlace } from "../request/json-scan.ts";
import type { TusOffer } from "../uploads/tus.ts";
import type { HttpResponse, WholeBody } from "./http-response.ts";
import type { Idempotency } from "./idempotency.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete" | "options";

/**
 * The required authorization of a route. `access` is judged against the account's state: by default `read` for GET,
 * else `write`.
 */
export type RouteAuth =
  | "anonymous"
  | {
      readonly scopes: readonly Scope[];
      /** Scopes that suffice for what belongs to the caller's own account: the operation checks that it does. */
      readonly scopesOfOwn?: readonly Scope[];
      readonly access?: AccessKind;
      /** Requires a sign-in within the last 15 minutes, or a key with `account:security`. */
      readonly stepUp?: true;
      /** Describes the changes that require a step-up: the operation checks it once it knows the change. */
      readonly stepUpFor?: string;
      /** Admits portal sessions, which see the rows of their endpoints alone. Default: they are refused. */
      readonly portal?: true;
      /** Admits client keys, which may only evaluate flags. Default: they are refused. */
      readonly client?: true;
      /** Refuses members: it belongs to the person whose account it is. */
      readonly ownAccount?: true;
      /** Admits anonymous callers with `principal` null; a bad credential is still refused. */
      readonly optional?: true;
    };

/** A number of bytes, or a function that reads a live property at each request. */
export type ByteLimit = number | (() => number);

/**
 * The body of a request. A schema alone is a JSON body. `json` adds options: with `mergePatch` the media type
 * `application/merge-patch+json` is accepted too. With `multipart` the handler reads `input.request` itself and `body`
 * is null, unless a JSON body came and `json` is declared. `raw` passes the bytes on unchanged; `unread` leaves them to
 * the handler, which can refuse before it reads, and reads with `readBody`.
 */
export type BodySpec =
  | z.ZodType
  | {
      readonly json: z.ZodType;
      readonly mergePatch?: true;
      readonly maxBytes?: ByteLimit;
      readonly forms?: BodyForms;
      /**
       * A member, of the body or of each of its items, that is the caller's own JSON: the schema gets it as `RawJson`.
       */
      readonly rawMember?: string;
      /**
       * The schema for this caller, requested when a body has failed: values that the caller already has may pass
       * although they could not be chosen now.
       */
      readonly forCaller?: (principal: Principal) => Promise<z.ZodType>;
    }
  | {
      readonly multipart: true;
      readonly json?: z.ZodType;
      /** The parts, for the documentation. */
      readonly form?: z.ZodType;
      /** Of the file; the form around it comes on top. */
      readonly maxBytes?: ByteLimit;
    }
  | { readonly raw: RawBody }
  | { readonly unread: RawBody };

/** Other forms in which a JSON body may come, such as CloudEvents. */
export interface BodyForms {
  /** The schemas of further media types, for the documentation. */
  readonly mediaTypes: Readonly<Record<string, z.ZodType>>;
  /** Returns the form of a request; null for a body in the declared form. The media type is null where none is given. */
  readonly formOf: (mediaType: string | null, headers: IncomingHttpHeaders) => BodyForm | null;
}

export interface BodyForm {
  /** Judges the form. Its output is that of the declared schema. */
  readonly schema: z.ZodType;
  /** The caller's own JSON in it, if not that of the declared form. */
  readonly raw?: RawPlace;
  /** Set for a body of any media type, or none: its JSON or its bytes, undefined where it is empty. */
  readonly anyMediaType?: "json" | "bytes";
  /** Adds to the content of the body what the headers have. */
  readonly read?: (content: unknown) => unknown;
}

/** A body of bytes, of any media type unless they should be JSON. */
export interface RawBody {
  readonly maxBytes: ByteLimit;
  readonly description?: string;
  /**
   * The JSON that the bytes should be, for the documentation: another media type is refused, and nothing else is
   * checked.
   */
  readonly json?: z.ZodType;
  readonly example?: string;
  /** The only accepted types, without a coding; others are refused before a byte is read. */
  readonly mediaTypes?: readonly string[];
  /** Marks a file, which may arrive as slowly as an upload: the deadline of the answer begins at its end. */
  readonly isFile?: true;
}

/**
 * The body of a status: JSON of a schema, nothing, our error body, or bytes of one of several media types. Their schema
 * and example are for the documentation.
 */
export type ResponseSpec =
  | z.ZodType
  | "empty"
  | "error"
  | { readonly content: readonly string[]; readonly schema?: z.ZodType; readonly example?: string };

/**
 * The error style of a route (CONTRACT §2): the area decides some codes and members. Errors in style `graphql` have the
 * form of a GraphQL answer (CONTRACT §8).
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

/** The input of a handler: everything parsed, and the caller from the verified credential only. */
export interface RouteInput<Who = Principal | null, Params = unknown, Query = unknown, Body = unknown> {
  readonly principal: Who;
  /** The principal with its request, for operations. @throws Error on a route for anonymous callers. */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The negotiated media type, one of those that the route declares for success. */
  readonly mediaType: string;
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Adds members to the one log line of the request. */
  note(members: object): void;
  readonly idempotency: Idempotency;
  /** Runs the work in a transaction of the service's database, for a handler whose flow `write` does not fit. */
  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/**
 * A route that changes one row. The framework opens the transaction, finds and locks the row (null is 404), checks
 * `If-Match`, changes it, stores the answer for `Idempotency-Key`, commits and answers. `change` may run again after a
 * lost race.
 */
export interface RouteWrite<Input, Row, Result> {
  /** Runs before the transaction, for what must not hold one open. It may throw. */
  readonly prepare?: (input: Input) => Promise<void>;
  /** Reads the row without a lock, for rows that rarely have two writers at once; see `RowWrite.read`. */
  readonly read?: (input: Input) => Promise<Row | null>;
  /** Finds the row and locks it until the transaction ends. */
  readonly find: (tx: Tx, input: Input) => Promise<Row | null>;
  /** The validator that `If-Match` is compared with. */
  readonly etag?: (row: Row) => string | null;
  /** The sentence of the 404 for a missing row. */
  readonly missing?: string;
  readonly change: (tx: Tx, row: Row, input: Input) => Promise<Result>;
  /** Maps every outcome to its answer. Only a success is stored for `Idempotency-Key`. */
  readonly answer: (result: Result, input: Input) => HttpResponse;
}

/** A route that creates a resource, in one transaction with the stored answer of its `Idempotency-Key`. */
export interface RouteCreate<Input, Result, Prepared> {
  /** Runs before the transaction, for what must not hold one open. It may throw. */
  readonly prepare?: (input: Input) => Promise<Prepared>;
  readonly run: (tx: Tx, input: Input, prepared: NoInfer<Prepared>) => Promise<Result>;
  /** Maps every outcome to its answer. Only a success is stored for `Idempotency-Key`. */
  readonly answer: (result: Result, input: Input) => HttpResponse;
}

/** Answers that a route gave a moment ago and may give again, found before the router. */
export interface KnownAnswers {
  /**
   * Finds the answer to a GET or HEAD without a body and a range, of any path. Null leaves the request to the router.
   * Called before anything is counted, so it must be quick and change nothing.
   */
  find(request: IncomingMessage): KnownAnswer | null;
}

/** An answer equal to that of `handle`. */
export interface KnownAnswer {
  /** Returns true when `handle` would show it to this caller, whose scopes and account's state admit it to the route. */
  isFor(principal: Principal | null): boolean;
  /** Returns the answer, once the request was counted. */
  answer(): HttpResponse & { readonly body: WholeBody };
}

type InputOf<Path extends string, A, P, Q, B> = RouteInput<
  PrincipalOf<A>,
  P extends z.ZodType ? z.output<P> : PathParams<Path>,
  Q extends z.ZodObject ? z.output<Q> : Record<never, never>,
  BodyOf<B>
>;

/**
 * The declaration of a route, from which input and output are parsed and the documentation is generated. It has one of
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
  Prepared = unknown,
> {
  /**
   * The operation's name in OpenAPI, unique in the product: the name of the matching GraphQL mutation or field, such as
   * `rotateApiKey` or `apiKeys`. Without one, a read is named by a noun and a change by a verb with its noun.
   */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly auth: A;
  /** The audit action. Every route that writes declares one, or the reason why it leaves no entry. */
  readonly audit?: Audited;
  /** Narrows path parameters; a value that does not fit is 404. Default: text. */
  readonly params?: P | undefined;
  /** Parses query parameters from text; unknown, repeated and invalid ones are 400. Default: none are allowed. */
  readonly query?: Q | undefined;
  readonly body?: B;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /**
   * Honours `Idempotency-Key`. A `handle` that writes calls `input.idempotency.complete(tx, response)` in the
   * transaction of the effect; `write` and `create` do so by themselves. `"sealed"` encrypts the stored answer, for
   * answers that show a secret.
   */
  readonly idempotent?: true | "sealed";
  /** The name of another rate-limit policy, or `"none"`. */
  readonly rateLimit?: string;
  /** The policy for callers without credentials, if not the common anonymous one. */
  readonly anonymousRateLimit?: string;
  /** `Cache-Control` of successful answers; `private, no-cache` for GET with an ETag and `no-store` otherwise. */
  readonly cache?: string;
  /** Members of `Vary` besides `Accept, Authorization, X-API-Key`. */
  readonly vary?: readonly string[];
  /** Milliseconds for this route instead of `limits.requestTimeoutSeconds`; null for streams without an end. */
  readonly deadlineMs?: number | null;
  /** True when the handler reads `Accept` itself, because the list of media types does not describe all its formats. */
  readonly ownNegotiation?: true;
  /** Names of parameters that are neither parsed nor refused. */
  readonly ignoredQuery?: RegExp;
  /** True when the query belongs to the client: it is neither parsed nor searched for credentials. */
  readonly ownQuery?: true;
  readonly errors?: ErrorStyle;
  /** Takes tus: other versions are refused, and the path's OPTIONS describe the offer. */
  readonly tus?: TusOffer;
  /** Examples of path parameters by name, for the documentation. */
  readonly exampleIds?: Readonly<Record<string, string>>;
  /** The times of deprecation and sunset (RFC 9745, RFC 8594). */
  readonly deprecated?: { readonly since: Date; readonly sunset: Date };
  /** Set by the framework alone, on the route for undeclared paths. */
  readonly unmatched?: true;
  /** Answers of `handle` that are known without it, for a GET that costs less than its way through the stages. */
  readonly known?: KnownAnswers;
  readonly handle?: (input: InputOf<Path, A, P, Q, B>) => HttpResponse | Promise<HttpResponse>;
  readonly write?: RouteWrite<InputOf<Path, A, P, Q, B>, Row, Result>;
  readonly create?: RouteCreate<InputOf<Path, A, P, Q, B>, Result, Prepared>;
}

/** A route as the framework stores it. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the handler was checked against its own schemas when it was declared.
  readonly spec: RouteSpec<string, RouteAuth, any, any, any, any, any, any>;
}

/** The names of the parameters in a path: `"image_id"` for `/images/:image_id/content`. */
type PathParamName<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | PathParamName<`/${Tail}`>
    : Rest
  : never;

/** Path parameters as text, decoded. */
type PathParams<Path extends string> = { readonly [Name in PathParamName<Path>]: string };

/** Lists the names of the parameters in a path, in order. */
export function pathParamNames(path: string): string[] {
  return [...path.matchAll(/:([A-Za-z_]\w*)/g)].map((match) => match[1] as string);
}

/** A declaration of `auth` with its defaults filled in. */
export interface RouteAccess {
  /** True when callers are not identified. */
  readonly anonymous: boolean;
  /** True when callers without credentials are admitted too. */
  readonly optional: boolean;
  readonly access: AccessKind;
  readonly scopes: readonly Scope[];
  readonly scopesOfOwn: readonly Scope[] | null;
  readonly stepUp: boolean;
  readonly stepUpFor: string | null;
  /** True when portal sessions are admitted. */
  readonly portal: boolean;
  /** True when client keys are admitted. */
  readonly client: boolean;
  /** True when members are refused. */
  readonly ownAccount: boolean;
}

/** Completes the access declaration of a route with its defaults. */
export function routeAccess(auth: RouteAuth, method: Method): RouteAccess {
  const access: AccessKind = method === "get" ? "read" : "write";
  if (auth === "anonymous")
    return {
      anonymous: true,
      optional: true,
      access,
      scopes: [],
      scopesOfOwn: null,
      stepUp: false,
      stepUpFor: null,
      portal: false,
      client: false,
      ownAccount: false,
    };
  return {
    anonymous: false,
    optional: auth.optional ?? false,
    access: auth.access ?? access,
    scopes: auth.scopes,
    scopesOfOwn: auth.scopesOfOwn ?? null,
    stepUp: auth.stepUp ?? false,
    stepUpFor: auth.stepUpFor ?? null,
    portal: auth.portal ?? false,
    client: auth.client ?? false,
    ownAccount: auth.ownAccount ?? false,
  };
}
