import { deadLetterTopic, type ServiceName } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { EventLog, ReceivedRecord } from "../event-log.ts";
import { type DeadLetterReason, deadLetterRecord } from "./dead-letter.ts";

/** The dead letters of a service: the messages that it gave up. */
export interface DeadLetters {
  /** Resolves once the message is stored there. @throws PublishError */
  add(record: ReceivedRecord, reason: DeadLetterReason): Promise<void>;
}

export interface DeadLettersOptions {
  readonly service: ServiceName;
  readonly eventLog: EventLog;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export function createDeadLetters({ service, eventLog, log, metrics, clock }: DeadLettersOptions): DeadLetters {
  const count = metrics.counter("signalbox_dead_letters_total");
  return {
    async add(record, reason) {
      await eventLog.publish([deadLetterRecord(deadLetterTopic(service), record, reason, clock.now())]);
      count.inc({ consumer: reason.consumer });
      const { topic, partition, offset, key, headers } = record;
      log.error(
        { ...reason, topic, partition, offset: String(offset), key, event: headers.ce_id },
        "a message went to the dead letters",
      );
    },
  };
}
