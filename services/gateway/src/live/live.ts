import type { SubscriptionDeclaration } from "@signalbox/contracts";
import { AppError, minutes } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/runtime";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { graphError, graphErrorOf } from "../documents/graph-error.ts";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Operations } from "../operations/operations.ts";
import type { LiveCaller } from "./live-caller.ts";
import type { Cursors, Positions } from "./live-cursor.ts";
import { type LiveEvent, topicsOf } from "./live-event.ts";
import type { LiveFeed } from "./live-feed.ts";
import { type LiveOperation, liveOperationOf } from "./live-operation.ts";
import { LiveStream, type Resolved } from "./live-stream.ts";
import { LiveSubscription, type PositionedEvent, SubscriptionIndex } from "./live-subscription.ts";
import { ReplayQueue } from "./replay-queue.ts";

interface Dependencies {
  readonly feed: Pick<LiveFeed, "isReady" | "positionsIn" | "replay">;
  readonly cursors: Cursors;
  readonly operations: Operations;
  readonly schema: () => GraphQLSchema;
  /** Returns true while the operator allows subscriptions. */
  readonly isServed: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const subscriptionsMax = 5_000;
/**
 * With this many unresolved messages the next event waits on the log, which has room. A client can receive them all
 * together.
 */
const resolvingMax = 128;
/** Longest replay, so that slow clients do not block others; the client resumes with its cursor. */
const replayMsMax = minutes(2);
const awayRetrySeconds = 2;

/** The subscriptions of this instance: each event is resolved once for equal subscriptions with the same view. */
export class Live {
  readonly #dependencies: Dependencies;
  readonly #subscriptions = new Set<LiveSubscription>();
  readonly #index = new SubscriptionIndex();
  readonly #replays = new ReplayQueue();
  readonly #waitingEvents: (() => void)[] = [];
  readonly #ended;
  #resolving = 0;
  #schema: GraphQLSchema;
  #isDraining = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#schema = dependencies.schema();
    const { metrics } = dependencies;
    metrics.gauge("signalbox_live_subscriptions", (gauge) => gauge.set({}, this.#subscriptions.size));
    this.#ended = metrics.counter("signalbox_live_subscriptions_ended_total");
  }

  /** Starts a subscription. @throws GraphQLError or AppError for a refused one */
  async subscribe(request: OperationRequest, caller: LiveCaller): Promise<LiveStream> {
    const { operations, feed, schema, isServed } = this.#dependencies;
    if (!isServed()) throw new AppError("forbidden", "This server does not offer subscriptions.");
    const prepared = operations.prepare(request, "everything", caller);
    if ("refusal" in prepared) throw errorFrom(prepared.refusal[0]);
    operations.begin(prepared, caller);
    const current = schema();
    const operation = liveOperationOf(current, prepared);
    await caller.admit(operation.declaration);
    if (this.#isDraining || !feed.isReady || this.#subscriptions.size >= subscriptionsMax) {
      const message = "This instance accepts no subscriptions at the moment. Try again.";
      throw new AppError("unavailable", message, { retryAfterSeconds: awayRetrySeconds });
    }
    // Includes the text of a document requested by its name.
    const subscription = this.#open(operation, { ...request, query: prepared.query }, caller);
    // What changed while the access was judged found no subscription to follow it.
    if (schema() !== current) this.#plan(subscription);
    this.#recheck(subscription);
    return subscription.stream;
  }

  /** Sends an event to its subscriptions. Resolves when there is room for the next one. */
  readonly tell = async (one: LiveEvent): Promise<void> => {
    const shared = new Map<string, Promise<Resolved>>();
    const cursors = new Map<string, string>();
    for (const subscription of this.#index.for(one.event)) {
      const { declaration } = subscription.operation;
      const cursor = cursors.get(declaration.field) ?? this.#cursorNow(declaration);
      cursors.set(declaration.field, cursor);
      subscription.deliver({ one, cursor }, shared);
    }
    // Afterwards: the cursor of a subscription that ends here is the one before this event, which is not lost with it.
    this.followSchema();
    while (this.#resolving >= resolvingMax && !this.#isDraining)
      await new Promise<void>((resolve) => this.#waitingEvents.push(resolve));
  };

  /** After a reload plans each subscription for the new schema; ends those that are no longer valid. */
  followSchema(): void {
    const current = this.#dependencies.schema();
    if (current === this.#schema) return;
    this.#schema = current;
    for (const subscription of this.#subscriptions) this.#plan(subscription);
  }

  /** Plans a subscription again. One that no longer fits ends alone: the events of all others come the same way. */
  #plan(subscription: LiveSubscription): void {
    const { schema, operations } = this.#dependencies;
    try {
      const prepared = operations.find(subscription.request, "everything", null);
      if ("refusal" in prepared) throw errorFrom(prepared.refusal[0]);
      subscription.operation = liveOperationOf(schema(), prepared);
    } catch {
      subscription.stream.fail("SCHEMA_CHANGED", "The schema has changed and no longer has a requested field.");
    }
  }

  /** Ends the subscriptions to which a caller has lost its access. */
  recheck(caller: LiveCaller): void {
    for (const subscription of this.#subscriptions) if (subscription.caller === caller) this.#recheck(subscription);
  }

  #recheck({ caller, operation, stream }: LiveSubscription): void {
    caller.admit(operation.declaration).catch((error: unknown) => stream.failWith(graphErrorOf(error)));
  }

  /** Ends every subscription of a caller with an invalid credential. */
  end(caller: LiveCaller, reason: AppError): void {
    for (const { caller: its, stream } of this.#subscriptions)
      if (its === caller) stream.failWith(graphErrorOf(reason));
  }

  /** Ends every subscription, each with the cursor to resume on another instance. */
  drain(): void {
    this.#isDraining = true;
    for (const wake of this.#waitingEvents.splice(0)) wake();
    for (const { stream } of this.#subscriptions) {
      stream.fail("DRAINING", "This instance is stopping. Subscribe again with the cursor.");
    }
  }

  #open(operation: LiveOperation, request: OperationRequest, caller: LiveCaller): LiveSubscription {
    const { declaration } = operation;
    const after = this.#positionsAfter(declaration, request.resumeAfter);
    const stream: LiveStream = new LiveStream({
      start: request.resumeAfter ?? this.#cursorNow(declaration),
      cursorNow: () => (subscription.isReplaying ? null : this.#cursorNow(declaration)),
      onEnd: (failure) => {
        if (failure) this.#ended.inc({ code: String(failure.extensions.code) });
        this.#subscriptions.delete(subscription);
        this.#index.remove(subscription);
      },
    });
    const subscription = new LiveSubscription({
      request,
      caller,
      operation,
      stream,
      resolve: (asking, positioned) => this.#resolve(asking, positioned),
    });
    this.#subscriptions.add(subscription);
    if (after) this.#resume(subscription, after);
    else this.#index.add(subscription);
    return subscription;
  }

  #positionsAfter({ field }: SubscriptionDeclaration, resumeAfter: string | null): Positions | null {
    if (resumeAfter === null) return null;
    const positions = this.#dependencies.cursors.open(field, resumeAfter);
    if (positions) return positions;
    const details = { field: "resumeAfter" };
    throw graphError("VALIDATION_FAILED", "resumeAfter is not a cursor for this subscription.", details);
  }

  /** Replays the events after a cursor, in its turn. New ones are held until then. */
  #resume(subscription: LiveSubscription, after: Positions): void {
    const { stream, caller } = subscription;
    subscription.hold(after);
    this.#replays
      .run(caller.payer, stream.over, () => this.#replay(subscription, after))
      .catch((error: unknown) => {
        const failure = graphErrorOf(error);
        const isExpected = failure.extensions.code === "CURSOR_EXPIRED";
        if (!isExpected) this.#dependencies.log.error({ error }, "a replay failed");
        stream.failWith(failure);
      });
  }

  async #replay(subscription: LiveSubscription, after: Positions): Promise<void> {
    const { operation, stream } = subscription;
    const { declaration } = operation;
    const { feed, cursors } = this.#dependencies;
    if (stream.isClosed) return;
    const timer = setTimeout(
      () => subscription.endSlow("The replay took too long. Resume from the cursor."),
      replayMsMax,
    );
    try {
      const events = feed.replay(after, topicsOf(declaration), stream.over);
      this.#index.add(subscription);
      await subscription.replay(events, (positions) => cursors.seal(declaration.field, positions));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves the message of an event, with the entity that the client asks for. */
  async #resolve({ operation, caller }: LiveSubscription, { one, cursor }: PositionedEvent): Promise<Resolved> {
    this.#resolving++;
    try {
      const { declaration, entityQuery } = operation;
      const payload = declaration.payloadOf({ name: one.event.name, data: one.event.data });
      const reference = payload?.[declaration.entity ?? ""] as { readonly id: string } | null | undefined;
      const asked = entityQuery &&
        reference && {
          ...entityQuery,
          variables: { ...entityQuery.variables, [entityQuery.idVariable]: reference.id },
        };
      const result = operation.shape(
        one,
        cursor,
        asked ? await this.#dependencies.operations.resolve(asked, caller) : null,
      );
      return { result, bytes: JSON.stringify(result).length };
    } finally {
      this.#resolving--;
      this.#waitingEvents.shift()?.();
    }
  }

  #cursorNow(declaration: SubscriptionDeclaration): string {
    const { cursors, feed } = this.#dependencies;
    return cursors.seal(declaration.field, feed.positionsIn(topicsOf(declaration)));
  }
}

const errorFrom = ({ message = "", extensions }: Partial<GraphQLFormattedError> = {}) =>
  new GraphQLError(message, { extensions: { ...extensions } });
