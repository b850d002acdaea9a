import type { Clock } from "@signalbox/core";
import type { Logger, Tracer } from "@signalbox/runtime";
import type { ReceivedRecord } from "../log/event-log.ts";
import type { ConsumerMetrics } from "./consumer-metrics.ts";
import { Interrupted, type MessageOutcome } from "./message-context.ts";

export interface Reporting {
  readonly consumer: string;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly metrics: ConsumerMetrics;
}

/**
 * Runs the work on one message in a span that continues the trace of its event, and reports the outcome in one log
 * line, one measurement and the span.
 */
export function reportMessage(
  { consumer, log, tracer, clock, metrics }: Reporting,
  record: ReceivedRecord,
  work: () => Promise<{ outcome: MessageOutcome; reason?: string }>,
): Promise<MessageOutcome> {
  const { topic, partition, offset, headers, timestampMs, key } = record;
  const event = headers.ce_type ?? "unreadable";
  const attributes = {
    "messaging.system": "signalbox",
    "messaging.operation.type": "process",
    "messaging.destination.name": topic,
    "messaging.destination.partition.id": String(partition),
    "messaging.consumer.group.name": consumer,
    "messaging.message.id": headers.ce_id,
  };
  return tracer.span(
    `process ${event}`,
    { kind: "consumer", attributes, parent: headers.ce_traceparent ?? null },
    async (span) => {
      const startedMs = clock.steadyMs();
      const fields = () => ({
        consumer,
        event,
        id: headers.ce_id,
        key,
        topic,
        partition,
        offset: String(offset),
        durationMs: Math.round((clock.steadyMs() - startedMs) * 10) / 10,
        ageMs: clock.nowMs() - timestampMs,
      });
      try {
        const { outcome, reason } = await work();
        metrics.handled(event, outcome, (clock.steadyMs() - startedMs) / 1000);
        span.setAttributes({ "signalbox.outcome": outcome });
        if (reason === undefined) log.info({ ...fields(), outcome }, "message");
        else {
          span.fail(reason);
          log.warn({ ...fields(), outcome, reason }, "message");
        }
        return outcome;
      } catch (error) {
        if (error instanceof Interrupted) log.info({ ...fields(), outcome: "interrupted" }, "message");
        else log.warn({ ...fields(), outcome: "failed", error }, "message");
        throw error;
      }
    },
  );
}
