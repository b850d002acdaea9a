import type { ServiceName } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { EventLog, ReceivedRecord } from "../event-log.ts";

/** Why and where a message was given up. */
export interface DeadLetterReason {
  readonly consumer: string;
  readonly reason: string;
  readonly attempts: number;
}

/** Where a service puts the messages it gives up on. */
export interface DeadLetters {
  add(record: ReceivedRecord, reason: DeadLetterReason): Promise<void>;
}

export interface DeadLettersOptions {
  readonly service: ServiceName;
  readonly eventLog: EventLog;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export declare function createDeadLetters(options: DeadLettersOptions): DeadLetters;
