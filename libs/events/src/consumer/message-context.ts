import type { Clock } from "@signalbox/core";
import type { Logger, Tracer } from "@signalbox/telemetry";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import type { ReceivedRecord } from "../event-log.ts";
import { createPatience } from "./patience.ts";

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
  const patience = createPatience(signal, heartbeat);
  const part = `dead letters of ${consumer}`;
  for (;;) {
    try {
      await deadLetters.add(record, { consumer, reason, attempts });
      return log.outage("The event log").passed(part);
    } catch (error) {
      log.outage("The event log").failed(part, error);
      await patience.pause();
    }
  }
}
