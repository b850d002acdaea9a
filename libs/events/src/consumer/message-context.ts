import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@signalbox/core";
import type { Logger, Tracer } from "@signalbox/runtime";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import type { ReceivedRecord } from "../log/event-log.ts";

/** The shared parts of one consumer. `consumer` is its group on the log. */
export interface ConsumerParts {
  readonly consumer: string;
  readonly deadLetters: DeadLetters;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly clock: Clock;
}

/** The surroundings of one delivery. */
export interface Delivery {
  readonly signal: AbortSignal;
  readonly heartbeat: () => Promise<void>;
}

/** Moves the message to the dead letters, and waits while the log is away: a message is never lost for that. */
export async function bury(
  { deadLetters, consumer, log }: ConsumerParts,
  record: ReceivedRecord,
  { reason, attempts }: { reason: string; attempts: number },
  { signal, heartbeat }: Delivery,
): Promise<void> {
  const backoff = createBackoff(signal, heartbeat);
  const part = `dead letters of ${consumer}`;
  for (;;) {
    try {
      await deadLetters.add(record, { consumer, reason, attempts });
      return log.outage("The event log").passed(part);
    } catch (error) {
      log.outage("The event log").failed(part, error);
      await backoff.pause();
    }
  }
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Creates growing pauses with heartbeats, so that an outage is waited out instead of counting as a failure. */
export function createBackoff(signal: AbortSignal, heartbeat: () => Promise<void>) {
  let pauseMs = firstPauseMs;
  return {
    /** @throws Interrupted when the wait is broken off. */
    async pause(): Promise<void> {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      await heartbeat();
      if (signal.aborted) throw new Interrupted("stopped while waiting");
    },
  };
}

/**
 * The outcome of a message: `handled`; `repeated`, its effect had already happened; `queued` behind a parked message of
 * its key; `parked` after a failure; `dead`, given up.
 */
export type MessageOutcome = "handled" | "repeated" | "queued" | "parked" | "dead";

/** Work that was broken off because the consumer stops or lost its partition. The message comes again. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Formats a failure in one line, for the log and for the reason of a parked message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.name}: ${error.message}${cause}`;
}
