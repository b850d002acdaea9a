import type { EventDraft, EventName } from "@signalbox/contracts";
import { type Clock, uuidv7 } from "@signalbox/core";
import type { Tracer } from "@signalbox/telemetry";
import type { EventLog } from "../event-log.ts";
import { encodeEvent } from "./encode-event.ts";

interface Publisher {
  readonly eventLog: EventLog;
  readonly service: string;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

/**
 * Publishes without an outbox and resolves when the log has taken the events. For reports and results, whose sender
 * repeats them until they are acknowledged; never for facts, whose change could be committed while their event is lost.
 */
export async function publishEvents(publisher: Publisher, drafts: readonly EventDraft<EventName>[]): Promise<void> {
  const { eventLog, service, clock, tracer } = publisher;
  const time = clock.now();
  const traceparent = tracer.traceparent();
  await eventLog.publish(
    drafts.map((event) => encodeEvent(event, { service, id: uuidv7(time.getTime()), time, traceparent })),
  );
}
