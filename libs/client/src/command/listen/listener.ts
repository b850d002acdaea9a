import type { Connection } from "../context.ts";
import { failureOf, type LocalAnswer } from "./forward.ts";
import { type ListenTerms, type Message, takeMessages } from "./messages.ts";
import { type Settled, settle, whileLeased } from "./settle.ts";

/** An attempt of a message at the local receiver. */
export interface LocalAttempt {
  readonly message: Message;
  readonly atMs: number;
  readonly answer: LocalAnswer;
}

export interface ListenerOptions extends Omit<ListenTerms, "onMessage"> {
  readonly nowMs: () => number;
  /** Hands a message to the local receiver. */
  readonly deliver: (message: Message) => Promise<LocalAnswer>;
  /** Called once for each attempt, when the receiver has answered. */
  readonly onAttempt: (attempt: LocalAttempt) => void;
  /** Called when Signalbox has recorded the attempt. */
  readonly onSettled: (attempt: LocalAttempt, settled: Settled) => void;
}

/** Shows a listener to a person or a program. */
export type View = Pick<ListenerOptions, "onEndpoint" | "onConnection" | "onAttempt" | "onSettled"> & {
  /** Gives the terminal back. */
  readonly close: () => void;
};

export interface ViewOptions {
  /** Null when messages are only shown. */
  readonly target: URL | null;
  readonly stop: () => void;
}

/**
 * Hands each message to the local receiver, whose answer is the attempt. An answer that Signalbox has not heard in time is
 * kept: when the message comes again, it is settled by it, and neither forwarded nor shown a second time.
 */
export async function listen(connection: Connection, options: ListenerOptions): Promise<void> {
  const { signal, deliver, onAttempt, onSettled, nowMs } = options;
  const unheard = new Map<string, Promise<LocalAttempt>>();
  const inHand = new Set<Promise<void>>();
  const failed = new AbortController();

  async function attemptOf(message: Message, endpointId: string): Promise<LocalAttempt> {
    const atMs = nowMs();
    const answer = await whileLeased(connection, endpointId, message.lease_id, () => deliver(message));
    const attempt = { message, atMs, answer };
    onAttempt(attempt);
    return attempt;
  }

  async function handle(message: Message, endpointId: string): Promise<void> {
    const { delivery_id: id, lease_id: leaseId } = message;
    const known = unheard.get(id);
    const attempt = known ?? attemptOf(message, endpointId);
    unheard.set(id, attempt);
    const reason = failureOf((await attempt).answer);
    const settled = await settle(connection, endpointId, leaseId, { reason, signal });
    if (settled === null) return;
    // A failure that was not heard is made good by the next attempt; a success must not be repeated.
    if (settled.decision !== "lapsed" || reason !== null) unheard.delete(id);
    if (known === undefined) onSettled(await attempt, settled);
  }

  await takeMessages(connection, {
    ...options,
    signal: AbortSignal.any([signal, failed.signal]),
    onEndpoint(endpoint, replaces) {
      // Its deliveries are gone with the endpoint before.
      unheard.clear();
      options.onEndpoint(endpoint, replaces);
    },
    onMessage(message, endpointId) {
      const work = handle(message, endpointId).catch((error: unknown) => failed.abort(error));
      inHand.add(work);
      void work.finally(() => inHand.delete(work));
    },
  });
  await Promise.all(inHand);
  if (failed.signal.aborted) throw failed.signal.reason;
}
