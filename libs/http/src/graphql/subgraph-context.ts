import type { IncomingMessage } from "node:http";
import type { Caller, Principal } from "@signalbox/auth";
import { AppError, type Clock } from "@signalbox/core";
import { inTransaction, type Pool, type RowWrite, type Tx, writeRow } from "@signalbox/storage";
import { clientAddressHeader, decodePrincipal, principalHeader } from "./principal-header.ts";

/** The context of every resolver of a subgraph: the caller and the transaction. */
export interface SubgraphContext {
  readonly principal: Principal | null;
  /** The principal with its request, for operations. @throws AppError `unauthorized` when the caller is anonymous. */
  readonly caller: Caller;
  readonly requestId: string;
  /** The address of the client; null when the caller of the subgraph does not send it. */
  readonly clientAddress: string | null;
  readonly clock: Clock;
  /** `prepare` runs before the transaction, for what must not hold one open. It may throw. */
  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  inTransaction<T, Prepared>(
    work: (tx: Tx, prepared: NoInfer<Prepared>) => Promise<T>,
    prepare: () => Promise<Prepared>,
  ): Promise<T>;
  /** Changes one row in one transaction, like a route that declares `write`. @throws AppError `not_found` */
  write<Row, Result>(write: ContextWrite<Row, Result>): Promise<Result>;
}

interface ContextWrite<Row, Result> extends Omit<RowWrite<Row, Result>, "key" | "lock"> {
  /** Runs before the transaction, for what must not hold one open. It may throw. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Finds the row and locks it until the transaction ends. */
  readonly find: RowWrite<Row, Result>["lock"];
  /** The sentence for the caller when there is no such row. */
  readonly missing: string;
}

export interface ContextParts {
  readonly clock: Clock;
  /** The database for the transactions of mutations; absent in a service whose subgraph has none. */
  readonly pool?: Pool;
}

/** The transaction of a mutation with an `Idempotency-Key`. */
export interface KeyedTransaction {
  /** The return value that an earlier attempt committed: the transaction does not run again. */
  readonly committed?: { readonly given: unknown };
  /** Called at the end of the transaction with its return value. */
  readonly complete?: (tx: Tx, given: unknown) => Promise<void>;
}

/** Creates the context of one request. */
export function contextOf(
  request: IncomingMessage,
  { clock, pool }: ContextParts,
  { committed, complete = async () => {} }: KeyedTransaction = {},
): SubgraphContext {
  const principal = decodePrincipal(request.headers[principalHeader]);
  const requestId = String(request.headers["x-request-id"] ?? "");
  const clientAddress = request.headers[clientAddressHeader]?.toString() ?? null;
  const key = principal?.accountId;
  const database = (): Pool => {
    if (!pool) throw new Error("a field writes, but the subgraph was created without a pool");
    return pool;
  };
  const completed = async <T>(tx: Tx, work: Promise<T>): Promise<T> => {
    const result = await work;
    await complete(tx, result);
    return result;
  };
  const earlier = committed && [committed];
  /**
   * Returns the value that the first transaction of an earlier attempt committed; null without one. The outcome of
   * later transactions is unknown.
   */
  const takeEarlier = <T>(): { readonly given: T } | null => {
    if (!earlier) return null;
    const first = earlier.pop();
    if (!first) throw answerLost();
    return first as { readonly given: T };
  };
  return {
    principal,
    get caller() {
      if (principal === null) throw unauthenticated();
      return { ...principal, requestId, clientAddress };
    },
    requestId,
    clientAddress,
    clock,
    async inTransaction<T>(
      work: (tx: Tx, prepared?: unknown) => Promise<T>,
      prepare?: () => Promise<unknown>,
    ): Promise<T> {
      const done = takeEarlier<T>();
      if (done) return done.given;
      const prepared = await prepare?.();
      return inTransaction(database(), (tx) => completed(tx, work(tx, prepared)), { key });
    },
    async write<Row, Result>({ prepare, find, missing, change, ...rest }: ContextWrite<Row, Result>): Promise<Result> {
      const done = takeEarlier<Result>();
      if (done) return done.given;
      await prepare?.();
      const changing: typeof change = (tx, row) => completed(tx, change(tx, row));
      const written = await writeRow(database(), { ...rest, key, lock: find, change: changing });
      if (written) return written.result;
      throw new AppError("not_found", missing);
    },
  };
}

/** The refusal of a field that requires credentials. */
const unauthenticated = () => new AppError("unauthorized", "Send credentials.");

const answerLost = () =>
  new AppError("conflict", "An earlier request with this Idempotency-Key was completed, but its response was lost.", {
    field: "Idempotency-Key",
  });
