import type { Caller } from "@signalbox/auth";
import { AppError, camelCase, snakeCase } from "@signalbox/core";
import { mutation, pathParamNames, type Resolve, refusalError, type SubgraphContext, toWire } from "@signalbox/http";
import { z } from "zod";
import { type AnyOperation, type OperationContext, refusalOf, routeOf } from "./operation.ts";

type Context = SubgraphContext;
type Arguments = Readonly<Record<string, unknown>> & { readonly input?: Readonly<Record<string, unknown>> };
type Keys = readonly (readonly [param: string, name: string])[];
type Picks = Readonly<Record<string, (success: unknown, context: OperationContext) => unknown>>;

/** The success of a mutation with its context. */
interface Done {
  readonly success: unknown;
  readonly context: OperationContext;
}

/** Creates the mutation of an operation. */
export function mutationOf(operation: AnyOperation): Resolve {
  const { auth, audit, graph } = operation;
  const picks = picksOf(graph?.payload ?? {});
  const keys = keysOf(operation);
  const spec = {
    ...auth,
    audit,
    input: (context: Context, input: object) => rulesOf(operation, keys, context, input),
    payload: (done: Done | null) =>
      Object.fromEntries(
        Object.entries(picks).map(([name, pick]) => [name, done ? pick(done.success, done.context) : null]),
      ),
  };
  return mutation(spec, async (input, graphContext: Context, args: Arguments): Promise<Done> => {
    const { caller } = graphContext;
    const context = { caller, params: paramsOf(operation, keys, args), input };
    return { success: await run(operation, context, graphContext), context };
  });
}

const picksOf = (payload: string | Picks): Picks =>
  typeof payload === "string" ? { [payload]: (success) => success } : payload;

/** Lists the path parameters of an operation with their names in the graph. */
export function keysOf({ rest, graph }: AnyOperation): Keys {
  return pathParamNames(routeOf(rest).path).map((param) => [
    param,
    (graph?.names as Record<string, string> | undefined)?.[param] ?? param,
  ]);
}

function paramsOf(operation: AnyOperation, keys: Keys, args: Arguments): unknown {
  const given = (operation.graph?.keysInInput ? args.input : args) ?? {};
  const params = Object.fromEntries(keys.map(([param, name]) => [param, given[name]]));
  if (!operation.params) return params;
  const parsed = operation.params.safeParse(params);
  if (!parsed.success) throw new AppError("not_found", operation.of?.missing ?? "There is nothing here.");
  return parsed.data;
}

const nothing = z.strictObject({});

/** The rules of REST, for the members that are not keys; the caller's own JSON keeps its names. */
async function rulesOf(operation: AnyOperation, keys: Keys, { caller }: Context, given: object): Promise<z.ZodType> {
  const { input: rules = nothing, graph } = operation;
  const keysInBody = graph?.keysInInput ? keys.map(([, name]) => name) : [];
  const own = (graph?.raw ?? []).filter((name) => name in given).map((name) => [snakeCase(name), jsonOf(given, name)]);
  const body = (wire: unknown) => {
    const members = Object.entries({ ...(wire as object), ...Object.fromEntries(own) });
    return Object.fromEntries(members.filter(([name]) => !keysInBody.includes(camelCase(name))));
  };
  return z.preprocess(body, "json" in rules ? await fitting(rules, body(toWire(given)), caller) : rules);
}

/** Values that fail the common rules are judged again by those for the caller. */
async function fitting(
  { json, forCaller }: Exclude<NonNullable<AnyOperation["input"]>, z.ZodType>,
  body: unknown,
  caller: Caller,
): Promise<z.ZodType> {
  return json.safeParse(body).success ? json : forCaller(caller);
}

/** Makes a plain copy: GraphQL literals have objects without a prototype, which strict rules refuse. */
function jsonOf(given: object, name: string): unknown {
  const value = (given as Readonly<Record<string, unknown>>)[name];
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Runs the operation. @throws AppError for a refusal, in its transaction, so that nothing of it is written */
async function run(operation: AnyOperation, context: OperationContext, graphContext: Context): Promise<unknown> {
  const { of, prepare, change, create, act, refusals } = operation;
  const { write, inTransaction } = graphContext;
  const succeeded = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work;
    const refusal = refusalOf(refusals, result, context.input);
    if (refusal) throw refusalError(refusal);
    return result;
  };
  if (of && change) {
    const { find, read, missing } = of;
    return write({
      prepare: prepare && (async () => void (await prepare(context))),
      read: read && (() => read(context)),
      find: (tx) => find(tx, context),
      change: (tx, row) => succeeded(change(tx, row, context)),
      missing,
    });
  }
  if (create) {
    return inTransaction(
      (tx, prepared) => succeeded(create(tx, context, prepared)),
      async () => prepare?.(context),
    );
  }
  if (!act) throw new Error("an operation needs one of change (with of), create and act");
  return succeeded(
    act({
      ...context,
      // The gateway ends abandoned requests by its own deadline.
      signal: new AbortController().signal,
      inTransaction: (work) => inTransaction((tx) => succeeded(work(tx))),
      // The graph stores no answers.
      inSharedTransaction: (effect) => effect(),
    }),
  );
}
