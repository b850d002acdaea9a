import type { Caller, Principal } from "@signalbox/auth";
import type { Audited } from "@signalbox/contracts";
import type { DetailCode } from "@signalbox/core";
import {
  type BodyForms,
  type HttpResponse,
  type Refusal,
  type RouteAuth,
  type RouteSpec,
  refusedWith,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";

/** The parameters of a path, as text, or as the narrower schema parses them. */
export type Params<Path extends string, P> = P extends z.ZodType ? z.output<P> : PathParams<Path>;

type PathParams<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? { readonly [N in Name]: string } & PathParams<`/${Tail}`>
    : { readonly [N in Rest]: string }
  : unknown;

/** The rules of an input, or with `forCaller` those for one caller, requested where the common ones have failed. */
export type Rules =
  | z.ZodType
  | { readonly json: z.ZodType; readonly forCaller: (caller: Principal) => Promise<z.ZodType> };

type InputOf<R> = R extends z.ZodType
  ? z.output<R>
  : R extends { readonly json: infer Json extends z.ZodType }
    ? z.output<Json>
    : undefined;

/** The context of an operation at either edge. */
export interface OperationContext<P = unknown, Input = unknown> {
  readonly caller: Caller;
  readonly params: P;
  readonly input: Input;
}

/** A flow at either edge: its caller, its end, and its transaction. */
export interface Flow {
  readonly caller: Caller;
  /** Aborted when the client disconnects or the deadline passes, where the edge knows. */
  readonly signal: AbortSignal;
  /** Runs the effect with the stored answer of an `Idempotency-Key`. Its value must be the operation's result. */
  inTransaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * The same for an effect that shares its transaction with those of other requests: the effect calls `complete` with
   * its result in that transaction, unless it is refused and has written nothing. Without an `Idempotency-Key` there is
   * no answer to store, and no `complete`.
   */
  inSharedTransaction<Result>(effect: (complete?: Complete<Result>) => Promise<Result>): Promise<Result>;
}

/** Stores the answer to a result in the transaction of its effect. It may run again when the transaction does. */
export type Complete<Result> = (tx: Tx, result: Result) => Promise<void>;

/** The context of an operation with a flow of its own. */
type FlowContext<P, Input> = OperationContext<P, Input> & Flow;

/** A row of the caller's own: how an operation finds and locks it. */
export interface OwnRow<Row, P> {
  readonly find: (tx: Tx, context: { readonly caller: Caller; readonly params: P }) => Promise<Row | null>;
  /** Reads the row without a lock, for rows that rarely have two writers at once; see `RowWrite.read`. */
  readonly read?: (context: { readonly caller: Caller; readonly params: P }) => Promise<Row | null>;
  /** The validator that `If-Match` is compared with. */
  readonly etag?: (row: Row) => string | null;
  /** The sentence for a caller who has no such row. */
  readonly missing: string;
}

type Outcome<Result, Name> = Extract<Result, { readonly outcome: Name }>;

/** The refusal of each outcome that is one. */
type Refusals<Result, Refused extends string> = {
  readonly [Name in Refused]: Refusal | ((result: NoInfer<Outcome<Result, Name>>, input: never) => Refusal);
};

/** The outcomes that are no refusal. */
type Success<Result, Refused extends string> = Exclude<Result, { readonly outcome: Refused }>;

type Verbs<Path> = { readonly [Verb in "get" | "post" | "put" | "patch" | "delete"]?: Path };

/** The options of a route that have no meaning in the graph. */
type RouteOptions = Pick<
  RouteSpec,
  "anonymousRateLimit" | "cache" | "deadlineMs" | "deprecated" | "idempotent" | "rateLimit" | "responses" | "tus"
>;

/** The route of an operation: one verb with its path. */
interface RestEdge<Path extends string, Success, Context> extends Verbs<Path>, RouteOptions {
  /** Accepts `application/merge-patch+json` too. */
  readonly mergePatch?: true;
  readonly maxBytes?: number | (() => number);
  /** Other forms in which the input may come. */
  readonly forms?: BodyForms;
  /** A member, of the input or of each of its items, that is the caller's own JSON: the rules get it as `RawJson`. */
  readonly rawMember?: string;
  /** Builds the answer of a success; default: 204. */
  readonly answer?: (success: Success, context: Context) => HttpResponse;
}

/** The mutation of an operation. */
interface GraphEdge<Path extends string, Success, Context> {
  /** The member of the payload with the success, or how each member is taken from it. */
  readonly payload: string | { readonly [member: string]: (success: Success, context: Context) => unknown };
  /** The name of the payload's type; default: the first member's name and `Payload`. */
  readonly type?: string;
  /** The name of the input's type; default: the operation's name and `Input`. */
  readonly inputType?: string;
  /** Names of path parameters in the graph that differ, as `{ image_id: "id" }`. */
  readonly names?: Readonly<Record<string, string>> & { readonly [N in keyof PathParams<Path>]?: string };
  /** Takes the path parameters from members of the input. */
  readonly keysInInput?: true;
  /** Members of the input that are the caller's own JSON: their names stay as written. */
  readonly raw?: readonly string[];
}

/**
 * An operation, declared once for REST and the graph. Its name in the table is the route's `operationId` and the
 * mutation. It has one of `change` (of a row), `create` (in a transaction) and `act` (a flow of its own). An operation
 * of one edge leaves the other out.
 */
export interface OperationSpec<
  Path extends string = string,
  P extends z.ZodType | undefined = undefined,
  R extends Rules | undefined = undefined,
  Row = unknown,
  Result = unknown,
  Prepared = unknown,
  Refused extends string = never,
> {
  readonly summary: string;
  readonly description?: string;
  readonly auth: Exclude<RouteAuth, "anonymous">;
  readonly audit: Audited;
  /** Narrows the path parameters; a value that does not fit reads as missing. */
  readonly params?: P;
  /**
   * The JSON body of REST, or the query of a DELETE, which has no body; and the argument `input` of the graph, whose
   * names are in camel case.
   */
  readonly input?: R;
  readonly of?: OwnRow<Row, Params<Path, P>>;
  /** Runs before the transaction, for what must not hold one open. It may throw. */
  readonly prepare?: (context: OperationContext<Params<Path, P>, InputOf<R>>) => Promise<Prepared>;
  readonly change?: (tx: Tx, row: Row, context: OperationContext<Params<Path, P>, InputOf<R>>) => Promise<Result>;
  readonly create?: (
    tx: Tx,
    context: OperationContext<Params<Path, P>, InputOf<R>>,
    prepared: NoInfer<Prepared>,
  ) => Promise<Result>;
  readonly act?: (context: FlowContext<Params<Path, P>, InputOf<R>>) => Promise<Result>;
  readonly refusals?: Refusals<Result, Refused>;
  readonly rest: RestEdge<Path, NoInfer<Success<Result, Refused>>, OperationContext<Params<Path, P>, InputOf<R>>>;
  readonly graph?: GraphEdge<Path, NoInfer<Success<Result, Refused>>, OperationContext<Params<Path, P>, InputOf<R>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: an operation was checked against its own types when it was declared.
export type AnyOperation = OperationSpec<any, any, any, any, any, any, any>;

/** Splits the route of an operation into its verb and path. */
export function routeOf({ get, post, put, patch, delete: remove }: Verbs<string>) {
  const given = Object.entries({ get, post, put, patch, delete: remove }).filter(([, path]) => path !== undefined);
  const [verb, path] = given[0] as [keyof Verbs<string>, string];
  if (given.length !== 1) throw new Error(`an operation has one route, this one has ${given.length}`);
  return { verb, path };
}

/** Returns the refusal of a result; null for a success. */
export function refusalOf(refusals: AnyOperation["refusals"], result: unknown, input: unknown): Refusal | null {
  const outcome = (result as { readonly outcome?: string } | null | undefined)?.outcome;
  const found = outcome === undefined ? undefined : (refusals as Record<string, unknown> | undefined)?.[outcome];
  if (found === undefined) return null;
  return typeof found === "function" ? found(result, input) : (found as Refusal);
}

/** Answers a result over HTTP: a refusal by its code, a success as the operation shows it. */
export function answerOf({ refusals, rest }: AnyOperation, result: unknown, context: OperationContext): HttpResponse {
  const refusal = refusalOf(refusals, result, context.input);
  if (refusal) return refusedWith(refusal);
  return rest.answer ? rest.answer(result, context) : { status: 204, body: { kind: "empty" } };
}

/** Builds the refusal of a change that the present state does not allow; the field is its name in the API. */
export const conflict = (field: string, code: DetailCode, message: string): Refusal => ({
  code: "conflict",
  message,
  details: [{ field, code, message }],
});

/** Builds the refusal of one more of something that has a limit. */
export const tooMany = (field: string, message: string): Refusal => conflict(field, "too_many", message);
