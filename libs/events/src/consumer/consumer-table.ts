import type { EventName } from "@signalbox/contracts";
import type { Tx } from "@signalbox/storage";
import type { ReceivedEvent } from "../envelope/decode-event.ts";

/** The surroundings of a handler with a database. Its effect belongs into `tx`, together with the inbox row. */
interface HandlerContext {
  readonly tx: Tx;
  /** Aborted when the consumer stops or its partition moves to another member. */
  readonly signal: AbortSignal;
  /** 1 for the first try. */
  readonly attempt: number;
}

export type Handler<N extends EventName> = (event: ReceivedEvent<N>, context: HandlerContext) => Promise<void>;

/**
 * Handles events in the order of the log, with one effect in `tx` for all of them. After an exception it gets them
 * again in halves; an event that fails alone goes to the handler of the table.
 */
export type BatchHandler = (
  events: readonly ReceivedEvent[],
  context: Pick<HandlerContext, "tx" | "signal">,
) => Promise<void>;

/** The handler of each event. Events that are not in the table are skipped. */
export type ConsumerTable = { readonly [N in EventName]?: Handler<N> };

export interface StatelessContext extends Omit<HandlerContext, "tx"> {
  /**
   * Reports that long work still makes progress. Without it the group takes the partition away after the session
   * timeout.
   */
  readonly heartbeat: () => Promise<void>;
}

export type StatelessHandler<N extends EventName> = (
  event: ReceivedEvent<N>,
  context: StatelessContext,
) => Promise<void>;

/** The table of a consumer without a database. Its handlers must tolerate a repeated event. */
export type StatelessTable = { readonly [N in EventName]?: StatelessHandler<N> };
